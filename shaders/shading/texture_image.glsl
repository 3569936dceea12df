// Base-colour images in one memory of texels: bilinear in linear light, or the nearest texel; all wrap modes of glTF
// 2.0 (section 3.8.4). No smaller versions of an image are kept: far away it is smoothed by samples alone.
// Heckbert, Fundamentals of Texture Mapping and Image Warping (1989).
#include "interface/texture.glsl"
#include "lib/srgb.glsl"

// A coordinate within the two periods on which texel_wrap works; anything that is no number counts as 0.
float wrapped(float u, int wrap) {
    if (!(abs(u) < 1e9)) return 0.0;
    return wrap == 0 ? u - floor(u) : wrap == 1 ? u - 2.0 * floor(0.5 * u) : clamp(u, 0.0, 1.0);
}

// The column or row of texel i = -1 .. 2 * size.
int texel_wrap(int i, int size, int wrap) {
    if (wrap == 0) return (i + size) % size;
    if (wrap == 2) return clamp(i, 0, size - 1);
    int turned = (i + 2 * size) % (2 * size);
    return turned < size ? turned : 2 * size - 1 - turned;
}

vec3 texel_color(Texture map, ivec2 at) {
    int column = texel_wrap(at.x, map.size.x, map.wrap.x), row = texel_wrap(at.y, map.size.y, map.wrap.y);
    return linear_from_srgb(fetch_texels(map.start * TEXTURE_BLOCK + row * map.size.x + column).rgb);
}

vec3 texture_color(int number, vec2 uv) {
    if (number < 0) return vec3(1.0);
    Texture map = fetch_textures(number);
    vec3 at = vec3(uv, 1.0);
    vec2 place = vec2(wrapped(dot(map.across, at), map.wrap.x), wrapped(dot(map.down, at), map.wrap.y));
    place *= vec2(map.size);
    if (map.nearest == 1) return texel_color(map, ivec2(floor(place)));
    place -= 0.5;
    vec2 low = floor(place), share = place - low;
    ivec2 i = ivec2(low);
    vec3 top = mix(texel_color(map, i), texel_color(map, i + ivec2(1, 0)), share.x);
    vec3 bottom = mix(texel_color(map, i + ivec2(0, 1)), texel_color(map, i + ivec2(1, 1)), share.x);
    return mix(top, bottom, share.y);
}
