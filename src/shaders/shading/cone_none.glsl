// Rays of a scene without textures.
#include "interface/cone.glsl"

vec2 cone_of_pixel(ivec2 pixel, int number, vec3 direction) {
    return vec2(0.0);
}

float cone_width(vec2 cone, vec3 origin, float t) {
    return 0.0;
}

vec2 cone_scattered(vec2 cone, float pdf) {
    return cone;
}
