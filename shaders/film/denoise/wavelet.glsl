// A step of the edge-avoiding a-trous wavelet transform (Dammertz et al. 2010), whose range follows the variance
// (Schied et al. 2017, section 4.3), by the kernel (1, 2, 1). Needs the streams lit, light.
// Weights are nearly symmetric, so that a firefly's light is taken in where it is given off. In the wide steps the middle
// keeps what its neighbours refuse: light then is neither made nor lost.
// Taps are written out: drivers for the CPU leave loops as loops.
#include "film/denoise/view.glsl"
#include "film/denoise/alike.glsl"
#include "lib/luminance.glsl"

uniform int reach;         // distance between two taps, pixels
uniform float deviations;  // of the luminance, within which light counts as alike

const float WHOLE = 4.0;  // of the kernel's weights, relative to its middle

Plane plane;
ivec2 middle, last;
int apart;
float own, spread, range, least, total, variance;
vec3 sum;

void tap(int x, int y) {
    ivec2 offset = apart * ivec2(x, y), place = clamp(middle + offset, ivec2(0), last);
    Irradiance there = fetch_light(place);
    float exponent = float(x * x + y * y) + unlike(plane, fetch_lit(place), vec2(offset));
    exponent += abs(dot(there.rgb, LUMINANCE) - own) * inversesqrt(range * (spread + there.variance) + least);
    float weight = falling(exponent);
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
    spread = light.variance;
    range = 0.5 * deviations * deviations;
    least = 1e-12 * (1.0 + own * own);
    total = 1.0;
    variance = light.variance;
    sum = light.rgb;
    row(-1);
    row(0);
    row(1);
    float rest = reach > 2 ? WHOLE - total : 0.0, all = total + rest;
    light.rgb = (sum + rest * light.rgb) / all;
    light.variance = (variance + (2.0 * rest + rest * rest) * light.variance) / (all * all);
    return light;
}
