// The environment out of focus: an equirectangular picture of its own, laid out as that of image_environment.glsl.
#include "interface/background.glsl"
#include "lib/int_of.glsl"

// A texel, with columns repeated and rows clamped.
vec3 background_texel(int column, int row) {
    int width = background_size.x, x = column < 0 ? column + width : column >= width ? column - width : column;
    return fetch_background_texels(clamp(row, 0, background_size.y - 1) * width + x).radiance;
}

// The bilinear interpolation of the picture in a direction, world space.
vec3 background_radiance(vec3 direction) {
    vec3 d = vec3(background_turn.x * direction.x - background_turn.y * direction.z, direction.y,
                  background_turn.y * direction.x + background_turn.x * direction.z);
    float horizontal = length(d.xz);
    float azimuth = horizontal > 0.0 ? atan(d.z, d.x) : 0.0;  // atan(0, 0) is undefined
    vec2 position = vec2(azimuth * 0.15915494 + 0.5, atan(horizontal, d.y) * 0.31830989) * vec2(background_size) - 0.5;
    vec2 corner = floor(position), fraction = position - corner;
    ivec2 texel = int_of(corner);
    vec3 upper = mix(background_texel(texel.x, texel.y), background_texel(texel.x + 1, texel.y), fraction.x);
    vec3 lower = mix(background_texel(texel.x, texel.y + 1), background_texel(texel.x + 1, texel.y + 1), fraction.x);
    return mix(upper, lower, fraction.y);
}
