// The settings of the radiance estimate, and what follows from them.
#include "interface/estimate.glsl"

float estimate_limit(vec3 position, int caustic) {
    float radius = estimate_reach;
    if (estimate_footprint > 0.0) radius += estimate_footprint * distance(position, estimate_eye);
    if (caustic == 1) radius *= estimate_caustic;
    return radius * radius;
}
