// Where a photon or a gathering ray arrives: the surface, or nothing.
#include "interface/material.glsl"
#include "interface/media.glsl"

int arrive_photon(in Ray ray, in Hit hit, in Media media, out Interaction interaction) {
    interaction = interaction_nowhere(-ray.direction);
    if (hit.triangle < 0) return EXIT_MISS;
    vec3 emission;
    float per_area;
    interaction = interaction_at(ray, hit, 0.0, emission, per_area);
    media_surround(media, interaction);
    return EXIT_SURFACE;
}
