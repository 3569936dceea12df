// Images in one memory of texels: bilinear in linear light, or the nearest texel; all wrap modes and filters of glTF 2.0
// (section 3.8.4). Of two mip levels one is chosen at random, so that their means are those of interpolation between
// them, for the price of one: M. Pharr et al., "Filtering After Shading With Stochastic Texture Filtering" (2024).
// Heckbert, Fundamentals of Texture Mapping and Image Warping (1989).
#include "interface/texture.glsl"
#include "lib/int_of.glsl"
#include "lib/srgb.glsl"
#ifdef HAVE_WIDE_TEXELS
#include "shading/texel_wide.glsl"
#else
#include "shading/texel_bytes.glsl"
#endif

// A coordinate within the two periods on which texel_wrap works; anything that is no number counts as 0.
float wrapped(float u, int wrap) {
    float finite_u = abs(u) < 1e9 ? u : 0.0;
    return wrap == 0 ? finite_u - floor(finite_u) : wrap == 1 ? finite_u - 2.0 * floor(0.5 * finite_u) : clamp(finite_u, 0.0, 1.0);
}

// The column or row of texel i = -1 .. size, mirrored -1 .. 2 * size. Without division, which CPUs do lane by lane.
int texel_wrap(int i, int size, int wrap) {
    if (wrap == 2) return clamp(i, 0, size - 1);
    int period = wrap == 0 ? size : 2 * size;
    int index = i < 0 ? i + period : i >= period ? i - period : i;
    return index < size ? index : period - 1 - index;
}

bool texture_flag(Texture map, int flag) {
    return (map.flags & flag) != 0;
}

// Column and row of a texel within its image.
ivec2 texel_place(Texture map, TextureLevel level, ivec2 at) {
    return ivec2(texel_wrap(at.x, level.size.x, map.wrap.x), texel_wrap(at.y, level.size.y, map.wrap.y));
}

// The texel there, colours made linear where that is asked for.
vec4 texel_at(Texture map, TextureLevel level, ivec2 at, bool color) {
    vec4 texel = texel_value(map.flags, level.start.x * TEXTURE_BLOCK + level.start.y, at.y * level.size.x + at.x);
    if (color && !texture_flag(map, TEXTURE_LINEAR)) texel.rgb = linear_from_srgb(texel.rgb);
    return texel;
}

// The filtered texel at a place: coordinates, and log2 of the footprint's width in units of these; color: made linear.
vec4 texture_lookup(Texture map, vec3 place, bool color) {
    float detail = place.z + map.detail;  // log2 of the texels under the ray, and the random number
    int level_number = texture_flag(map, TEXTURE_MIPMAPS) && detail >= 1.0 ? min(int_of(floor(min(detail, 30.0))), map.last) : 0;
    bool is_nearest = texture_flag(map, level_number > 0 || detail >= 0.5 ? TEXTURE_NEAREST_SMALL : TEXTURE_NEAREST);
    TextureLevel level = fetch_texture_levels(map.level + level_number);
    vec3 at = vec3(place.xy, 1.0);
    vec2 position = vec2(wrapped(dot(map.transform_u, at), map.wrap.x), wrapped(dot(map.transform_v, at), map.wrap.y));
    position *= vec2(level.size);
    vec2 low_texel = is_nearest ? floor(position) : floor(position - 0.5), fraction = position - 0.5 - low_texel;
#ifdef HAVE_GPU_FORM
    // Texels of a row at once, and rows one by one in a loop that is not unrolled, so that its code is there once.
    ivec2 this_texel = texel_place(map, level, int_of(low_texel)), next_texel = texel_place(map, level, int_of(low_texel) + 1);
    vec4 filtered = vec4(0.0);
    for (int row = 0; row < (is_nearest ? 1 : 2); row++) {
        int y = row == 0 ? this_texel.y : next_texel.y;
        vec4 left = texel_at(map, level, ivec2(this_texel.x, y), color), right = texel_at(map, level, ivec2(next_texel.x, y), color);
        vec4 row_value = is_nearest ? left : mix(left, right, fraction.x);
        filtered = row == 0 ? row_value : mix(filtered, row_value, fraction.y);
    }
#else
    // A loop over one texel or four, so that looking one up is in the source once: compilers inline all of it.
    vec4 left = vec4(0.0), top = left, filtered = left;
    for (int corner = 0; corner < 4; corner++) {
        ivec2 place = texel_place(map, level, int_of(low_texel) + ivec2(corner & 1, corner >> 1));
        vec4 texel = texel_at(map, level, place, color);
        vec4 row_value = mix(left, texel, fraction.x);
        if (corner == 0 || !is_nearest) filtered = corner == 0 ? texel : mix(top, row_value, fraction.y);
        left = texel;
        if (corner == 1) top = row_value;
    }
#endif
    return filtered;
}

// The filtered texel of a texture by its address; white where that is below zero. second: the place by the second set.
vec4 texture_texel(int number, vec3 place, vec3 second, bool color) {
    Texture map = fetch_textures(max(number, 0));
#ifdef HAVE_SECOND_UV
    if (texture_flag(map, TEXTURE_SECOND)) place = second;
#endif
    vec4 texel = texture_lookup(map, place, color);  // loops must not follow a return
    return number < 0 ? vec4(1.0) : texel;
}

vec3 texture_color(int number, vec3 place) {
    return texture_texel(number, place, place, true).rgb;
}
