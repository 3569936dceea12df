// Where a photon arrives: the surface, or nothing.
#include "interface/material.glsl"

int arrive_photon(in Ray ray, in Hit hit, out Interaction interaction) {
    interaction = interaction_nowhere(-ray.direction);
    if (hit.triangle < 0) return EXIT_MISS;
    vec3 emission;
    float per_area;
    interaction = interaction_at(ray, hit, 0.0, emission, per_area);
    return EXIT_SURFACE;
}
