// Where a gathering ray arrives. What is emitted there does not count: shadow rays have brought it, or, over mirrors and
// glass, caustic photons.
#include "interface/material.glsl"

int arrive_gathering(in Ray ray, in Hit hit, out Interaction spot) {
    spot = interaction_nowhere(-ray.direction);
    if (hit.triangle < 0) return EXIT_MISS;
    vec3 emission;
    float per_area;
    spot = interaction_at(ray, hit, 0.0, emission, per_area);
    return EXIT_SURFACE;
}
