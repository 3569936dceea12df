// A step of the edge-avoiding a-trous wavelet transform (Dammertz et al. 2010), whose range follows the variance
// (Schied et al. 2017, section 4.3), by the kernel (1, 2, 1). Needs the streams lit, light.
// Light flows between two pixels by a weight that is nearly the same for both, and no more than the darker one reflects:
// what one takes the other gives, so that the picture's mean stays, fireflies and black textures included. What lies beyond
// the picture's margin takes no part.
// Taps are written out: drivers for the CPU leave loops as loops.
#include "film/denoise/view.glsl"
#include "film/denoise/alike.glsl"
#include "film/denoise/reflected.glsl"
#include "lib/luminance.glsl"

uniform int reach;         // distance between two taps, pixels
uniform float deviations;  // of the luminance, within which light counts as alike

const float WHOLE = 3.25;  // of all weights, relative to the nearest one's; those of the neighbours sum to at most 3

Plane plane;
ivec2 middle, last;
int apart;
float own, bright, spread, range, least, total, variance;
vec3 sum;

void tap(int x, int y) {
    ivec2 offset = apart * ivec2(x, y), wanted = middle + offset, place = clamp(wanted, ivec2(0), last);
    Irradiance there = fetch_light(place);
    float exponent = float(x * x + y * y) + unlike(plane, fetch_lit(place), vec2(offset));
    exponent += abs(dot(there.rgb, LUMINANCE) - own) * inversesqrt(range * (spread + there.variance) + least);
    float weight = falling(exponent) * min(1.0, bright * reflected_in(there.variance));
    if (place != wanted) weight = 0.0;
    total += weight;
    sum += weight * there.rgb;
    variance += weight * weight * there.variance;
}

void row(int y) {
    tap(-1, y);
    if (y != 0) tap(0, y);
    tap(1, y);
}

Irradiance element(ivec2 at) {
    Irradiance light = fetch_light(at);
    plane = plane_of(fetch_lit(at), at, float(reach));
    middle = at;
    last = textureSize(in_light_0, 0) - 1;
    apart = reach;
    own = dot(light.rgb, LUMINANCE);
    float reflected = reflected_in(light.variance);
    bright = 1.0 / max(reflected, 1e-6);
    spread = light.variance;
    range = 0.5 * deviations * deviations;
    least = 1e-12 * (1.0 + own * own);
    total = variance = 0.0;
    sum = vec3(0.0);
    row(-1);
    row(0);
    row(1);
    float rest = WHOLE - total;
    light.rgb = (sum + rest * light.rgb) / WHOLE;
    light.variance = with_reflected((variance + rest * rest * light.variance) / (WHOLE * WHOLE), reflected);
    return light;
}
