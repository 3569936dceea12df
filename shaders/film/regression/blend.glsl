// What the eye gets of two estimates of a pixel's light: that of the wavelets, which keeps what is sharp and has noise, and
// that of the regression, which has hardly any and misses what neither place nor normal tells. Their difference is split into
// its mean around the pixel and the rest. Of each part as much is kept as it exceeds, squared, the noise that it has of the
// wavelets (N. Wiener's filter, 1949): the mean of many pixels has little noise, so that no regression is far off.
// Needs the streams lit (for its surfaces), light (of the wavelets), fitted (of the regression).
#include "film/denoise/view.glsl"
#include "film/denoise/alike.glsl"
#include "lib/luminance.glsl"

uniform float samples;     // of each pixel

const float DOUBT = 12.0;  // over the samples: the least squared spread of one, relative to its mean, that is believed
const float FILTERED = 1.0 / 12.0;  // of a pixel's variance that the wavelets leave at least

Plane plane;
ivec2 middle, last;
float total, variance, second;
vec3 first;

void tap(int x, int y) {
    ivec2 offset = ivec2(x, y), wanted = middle + offset, place = clamp(wanted, ivec2(0), last);
    Lit there = fetch_lit(place);
    Irradiance light = fetch_light(place);
    float weight = place == wanted ? falling(unlike(plane, Guide(there.normal, there.nearness), vec2(offset))) : 0.0;
    vec3 apart = light.rgb - fetch_fitted(place).rgb;
    float difference = dot(apart, LUMINANCE);
    total += weight;
    variance += weight * light.variance;
    first += weight * apart;
    second += weight * difference * difference;
}

// Written out: drivers for the CPU leave loops as loops.
void row(int y) {
    tap(-2, y);
    tap(-1, y);
    tap(0, y);
    tap(1, y);
    tap(2, y);
}

// The share of a squared value that is beyond its noise: 1 of one that no float32 holds, 0 of what is no number.
float beyond(float square, float noise) {
    return square > noise ? 1.0 - noise / square : 0.0;
}

Irradiance element(ivec2 at) {
    Lit own = fetch_lit(at);
    Irradiance light = fetch_light(at), fitted = fetch_fitted(at);
    plane = plane_of(Guide(own.normal, own.nearness), at, 2.0);
    middle = at;
    last = textureSize(in_light_0, 0) - 1;
    total = variance = second = 0.0;
    first = vec3(0.0);
    row(-2);
    row(-1);
    row(0);
    row(1);
    row(2);
    first /= total;
    float mean = dot(fitted.rgb, LUMINANCE), shift = dot(first, LUMINANCE);
    // Wavelets take little from pixels of whose surface there are few.
    float noise = max(variance, DOUBT * mean * mean / (samples * samples * total)) / total;
    float low = beyond(shift * shift, noise / total);
    float high = beyond(max(second / total - shift * shift, 0.0), max(noise, FILTERED * own.variance));
    light.rgb = mix(fitted.rgb, light.rgb, high) + (low - high) * first;
    return light;
}
