// The settings of the radiance estimate, and what follows from them.
#include "interface/estimate.glsl"

float estimate_limit(vec3 position) {
    float radius = estimate_reach + estimate_footprint * distance(position, estimate_eye);
    return radius * radius;
}
