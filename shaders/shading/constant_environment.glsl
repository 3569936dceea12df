// The same radiance from everywhere. Nothing exceeds its mean, so that compensated there is nothing to sample: BSDF
// sampling alone has less variance than with uniform directions beside it, and needs no shadow rays.
#include "interface/environment.glsl"

vec3 environment_radiance(vec3 direction) {
    return environment_color;
}

float environment_density(vec3 direction, bool compensated) {
    return compensated ? 0.0 : 0.07957747;  // 1 / (4 pi)
}

// A direction uniform over the sphere.
void environment_sample(vec2 u, int quantum, bool compensated, out vec3 direction, out float density) {
    float y = 1.0 - 2.0 * u.x, angle = 6.2831853 * u.y;
    float radius = 2.0 * sqrt(u.x * (1.0 - u.x));
    direction = vec3(radius * cos(angle), y, radius * sin(angle));
    density = environment_density(direction, compensated);
}
