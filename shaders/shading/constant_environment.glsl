// The same radiance from everywhere.
#include "interface/environment.glsl"

vec3 environment_radiance(vec3 direction) {
    return environment_color;
}

void environment_sample(vec2 u, int quantum, out vec3 direction, out float density) {
    float y = 1.0 - 2.0 * u.x, angle = 6.2831853 * u.y;
    float radius = 2.0 * sqrt(u.x * (1.0 - u.x));
    direction = vec3(radius * cos(angle), y, radius * sin(angle));
    density = 0.07957747;  // 1 / (4 pi)
}

float environment_density(vec3 direction) {
    return 0.07957747;
}
