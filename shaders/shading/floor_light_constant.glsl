// Light of one radiance from everywhere on the floor: in proportion to the cosine.
#include "interface/floor_light.glsl"

vec3 floor_light(vec2 u) {
    float radius = sqrt(u.x), azimuth = 6.2831853 * u.y;
    return vec3(radius * cos(azimuth), sqrt(1.0 - u.x), radius * sin(azimuth));
}
