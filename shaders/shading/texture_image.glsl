// Images in one memory of texels: bilinear in linear light, or the nearest texel; all wrap modes and filters of glTF 2.0
// (section 3.8.4). Of two mip levels one is chosen at random, so that their means are those of interpolation between
// them, for the price of one: M. Pharr et al., "Filtering After Shading With Stochastic Texture Filtering" (2024).
// Heckbert, Fundamentals of Texture Mapping and Image Warping (1989).
#include "interface/texture.glsl"
#include "lib/srgb.glsl"
#ifdef HAVE_WIDE_TEXELS
#include "shading/texel_wide.glsl"
#else
#include "shading/texel_bytes.glsl"
#endif

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

bool texture_flag(Texture map, int flag) {
    return (map.flags & flag) != 0;
}

// The texel, colours made linear where that is asked for.
vec4 texel_at(Texture map, TextureLevel level, ivec2 at, bool color) {
    int column = texel_wrap(at.x, level.size.x, map.wrap.x), row = texel_wrap(at.y, level.size.y, map.wrap.y);
    vec4 texel = texel_value(map.flags, level.start.x * TEXTURE_BLOCK + level.start.y, row * level.size.x + column);
    if (color && !texture_flag(map, TEXTURE_LINEAR)) texel.rgb = linear_from_srgb(texel.rgb);
    return texel;
}

vec4 texture_lookup(int number, vec3 place, bool color) {
    Texture map = fetch_textures(number);
    float detail = place.z + map.detail;  // log2 of the texels under the ray, and the random number
    int chosen = texture_flag(map, TEXTURE_MIPMAPS) && detail >= 1.0 ? min(int(min(detail, 30.0)), map.last) : 0;
    bool nearest = texture_flag(map, chosen > 0 || detail >= 0.5 ? TEXTURE_NEAREST_SMALL : TEXTURE_NEAREST);
    TextureLevel level = fetch_texture_levels(map.level + chosen);
    vec3 at = vec3(place.xy, 1.0);
    vec2 film = vec2(wrapped(dot(map.across, at), map.wrap.x), wrapped(dot(map.down, at), map.wrap.y));
    film *= vec2(level.size);
    if (nearest) return texel_at(map, level, ivec2(floor(film)), color);
    film -= 0.5;
    vec2 low = floor(film), share = film - low;
    ivec2 i = ivec2(low);
    vec4 top = mix(texel_at(map, level, i, color), texel_at(map, level, i + ivec2(1, 0), color), share.x);
    vec4 bottom = mix(
        texel_at(map, level, i + ivec2(0, 1), color), texel_at(map, level, i + ivec2(1, 1), color), share.x
    );
    return mix(top, bottom, share.y);
}

vec4 texture_rgba(int number, vec3 place) {
    if (number < 0) return vec4(1.0);
    return texture_lookup(number, place, true);
}

vec3 texture_color(int number, vec3 place) {
    return texture_rgba(number, place).rgb;
}

vec4 texture_data(int number, vec3 place) {
    if (number < 0) return vec4(1.0);
    return texture_lookup(number, place, false);
}
