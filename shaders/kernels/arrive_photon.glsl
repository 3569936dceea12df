// Where a photon or a gathering ray arrives: the surface, or nothing.
#include "interface/material.glsl"
#include "interface/media.glsl"

int arrive_photon(in Ray ray, in Hit hit, in Media media, out Interaction interaction) {
    bool surface_hit = hit.triangle >= 0;
    if (surface_hit) {  // first, as in arrive.glsl
        vec3 emission;
        float per_area;
        interaction = interaction_at(ray, hit, 0.0, emission, per_area);
        media_surround(media, interaction);
    } else {
        interaction = interaction_nowhere(-ray.direction);
    }
    return surface_hit ? EXIT_SURFACE : EXIT_MISS;
}
