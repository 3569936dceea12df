// Tone maps: linear sRGB of any brightness to linear sRGB for 0 .. 1. The twins of viewer/film/tonemap.py, which has
// the sources. Matrices are written row by row and multiplied from the right.
#include "lib/luminance.glsl"

const int TONE_NONE = 0, TONE_REINHARD = 1, TONE_ACES = 2, TONE_AGX = 3;  // the order of raystream.film.tonemap.TONEMAPS
const float TONE_WHITE = 4.0;      // Reinhard: the luminance of white
const float TONE_BRIGHTEST = 1e6;  // beyond the end of every curve

vec3 tone_reinhard(vec3 light) {
    float luminance = dot(light, LUMINANCE);
    return light * ((1.0 + luminance / (TONE_WHITE * TONE_WHITE)) / (1.0 + luminance));
}

// The ACES curve.
vec3 tone_aces(vec3 light) {
    const mat3 to_aces = mat3(0.59719, 0.35458, 0.04823, 0.07600, 0.90834, 0.01566, 0.02840, 0.13383, 0.83777);
    const mat3 from_aces = mat3(1.60475, -0.53108, -0.07367, -0.10208, 1.10813, -0.00605, -0.00327, -0.07276, 1.07602);
    vec3 v = light * to_aces;
    return ((v * (v + 0.0245786) - 0.000090537) / (v * (0.983729 * v + 0.4329510) + 0.238081)) * from_aces;
}

// AgX, with its curve as a polynomial of stops.
vec3 tone_agx(vec3 light) {
    const mat3 inset = mat3(
        vec3(0.842479062253094, 0.0784335999999992, 0.0792237451477643),
        vec3(0.0423282422610123, 0.878468636469772, 0.0791661274605434),
        vec3(0.0423756549057051, 0.0784336, 0.879142973793104)
    );
    const mat3 outset = mat3(
        vec3(1.19687900512017, -0.0980208811401368, -0.0990297440797205),
        vec3(-0.0528968517574562, 1.15190312990417, -0.0989611768448433),
        vec3(-0.0529716355144438, -0.0980434501171241, 1.15107367264116)
    );
    const float low = -12.47393, high = 4.026069;  // stops
    vec3 stops = clamp(log2(max(light * inset, 1e-10)), low, high);
    vec3 x = (stops - low) / (high - low);
    vec3 curve = -0.00232 + x * (0.1191 + x * (0.4298 + x * (-6.868 + x * (31.96 + x * (-40.14 + x * 15.5)))));
    return pow(max(curve * outset, 0.0), vec3(2.2));
}

// Linear light by the tone map of that number.
vec3 tonemap(int which, vec3 linear) {
    vec3 light = min(max(linear, 0.0), TONE_BRIGHTEST);
    if (which == TONE_REINHARD) return tone_reinhard(light);
    if (which == TONE_ACES) return tone_aces(light);
    if (which == TONE_AGX) return tone_agx(light);
    return linear;
}
