// The environment out of focus: an equirectangular picture of its own, laid out as that of image_environment.glsl.
#include "interface/background.glsl"
#include "lib/int_of.glsl"

vec3 background_texel(int column, int row) {
    int width = background_size.x, x = column < 0 ? column + width : column >= width ? column - width : column;
    return fetch_background_texels(clamp(row, 0, background_size.y - 1) * width + x).radiance;
}

vec3 background_radiance(vec3 direction) {
    vec3 d = vec3(background_turn.x * direction.x - background_turn.y * direction.z, direction.y,
                  background_turn.y * direction.x + background_turn.x * direction.z);
    float level = length(d.xz);
    float around = level > 0.0 ? atan(d.z, d.x) : 0.0;  // atan(0, 0) is undefined
    vec2 place = vec2(around * 0.15915494 + 0.5, atan(level, d.y) * 0.31830989) * vec2(background_size) - 0.5;
    vec2 low = floor(place), share = place - low;
    ivec2 at = int_of(low);
    vec3 above = mix(background_texel(at.x, at.y), background_texel(at.x + 1, at.y), share.x);
    vec3 below = mix(background_texel(at.x, at.y + 1), background_texel(at.x + 1, at.y + 1), share.x);
    return mix(above, below, share.y);
}
