// A step of the edge-avoiding a-trous wavelet transform (Dammertz et al. 2010) on the lattice of pool.glsl, whose range
// follows the variance (Schied et al. 2017, section 4.3), by the kernel (1, 2, 1), of which one of the two diagonals is
// enough: steps take them by turns. Needs the streams pooled, light.
// Light flows between two points by a weight that is nearly the same for both, and no more than what the pixels of the
// darker one reflect: what one takes the other gives, so that the picture's mean stays, fireflies and black textures
// included. What lies beyond the picture's margin takes no part.
// Taps are written out: drivers for the CPU leave loops as loops.
#include "film/denoise/view.glsl"
#include "film/denoise/alike.glsl"
#include "film/denoise/surface.glsl"
#include "lib/luminance.glsl"

uniform int reach;         // distance between two taps, points of the lattice
uniform int turn;          // 1 or -1: which diagonal
uniform float deviations;  // of the luminance, within which light counts as alike

const float WHOLE = 2.8;   // of all weights, relative to the nearest one's; those of the neighbours sum to at most 2.5

Plane plane;
ivec2 middle, last;
float own, bright, spread, range, least, total, variance;
vec3 sum;

Guide guide_at(ivec2 place) {
    Pooled pooled = fetch_pooled(place);
    return Guide(pooled.normal, pooled.nearness);
}

void tap(ivec2 offset, float apart) {
    ivec2 wanted = middle + offset, place = clamp(wanted, ivec2(0), last);
    Irradiance there = fetch_light(place);
    float exponent = apart + unlike(plane, guide_at(place), vec2(offset));
    exponent += abs(dot(there.rgb, LUMINANCE) - own) * inversesqrt(range * (spread + there.variance) + least);
    float weight = falling(exponent) * min(1.0, bright * reflected_in(there.variance));
    if (place != wanted) weight = 0.0;
    total += weight;
    sum += weight * there.rgb;
    variance += weight * weight * there.variance;
}

Irradiance element(ivec2 at) {
    Irradiance light = fetch_light(at);
    plane = plane_of(guide_at(at), at, float(reach));
    middle = at;
    last = textureSize(in_light_0, 0) - 1;
    own = dot(light.rgb, LUMINANCE);
    float reflected = reflected_in(light.variance);
    bright = 1.0 / max(reflected, 1e-6);
    spread = light.variance;
    range = 0.5 * deviations * deviations;
    least = 1e-12 * (1.0 + own * own);
    total = variance = 0.0;
    sum = vec3(0.0);
    tap(ivec2(-reach, 0), 1.0);
    tap(ivec2(reach, 0), 1.0);
    tap(ivec2(0, -reach), 1.0);
    tap(ivec2(0, reach), 1.0);
    tap(ivec2(-reach, turn * -reach), 2.0);
    tap(ivec2(reach, turn * reach), 2.0);
    float rest = WHOLE - total;
    light.rgb = (sum + rest * light.rgb) / WHOLE;
    light.variance = with_reflected((variance + rest * rest * light.variance) / (WHOLE * WHOLE), reflected);
    return light;
}
