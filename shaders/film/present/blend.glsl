// What the eye gets of two estimates of a pixel's light: that of the wavelets, which keeps what is sharp and has noise, and
// that of the regression, which has hardly any and misses what neither place nor normal tells. Their squared distance around
// the pixel, less the noise of the first, is the squared error of the second; each counts by the inverse of its own.
// Needs the streams lit (for its surfaces), light (of the wavelets), fitted (of the regression).
#include "film/denoise/view.glsl"
#include "film/denoise/alike.glsl"
#include "lib/luminance.glsl"

uniform float samples;     // of each pixel

const float DOUBT = 12.0;  // over the samples: the least squared spread of one, relative to its mean, that is believed
const float FILTERED = 1.0 / 6.0;  // of a pixel's variance that the wavelets leave at least where light is even

Plane plane;
ivec2 middle, last;
float apart, variance, total;

void tap(int x, int y) {
    ivec2 offset = ivec2(x, y), wanted = middle + offset, place = clamp(wanted, ivec2(0), last);
    Lit there = fetch_lit(place);
    Irradiance light = fetch_light(place);
    float weight = place == wanted ? falling(unlike(plane, Guide(there.normal, there.nearness), vec2(offset))) : 0.0;
    float difference = dot(light.rgb - fetch_fitted(place).rgb, LUMINANCE);
    apart += weight * difference * difference;
    variance += weight * max(light.variance, FILTERED * there.variance);
    total += weight;
}

Irradiance element(ivec2 at) {
    Lit own = fetch_lit(at);
    Irradiance light = fetch_light(at), fitted = fetch_fitted(at);
    plane = plane_of(Guide(own.normal, own.nearness), at, 2.0);
    middle = at;
    last = textureSize(in_light_0, 0) - 1;
    apart = variance = total = 0.0;
    tap(0, 0);
    for (int side = -1; side <= 1; side += 2) {
        tap(side, 0);
        tap(0, side);
        tap(2 * side, side);
        tap(side, -2 * side);
    }
    float mean = dot(fitted.rgb, LUMINANCE);
    // Wavelets take little from pixels of whose surface there are few.
    float noise = max(variance / total, max(FILTERED, 1.0 / total) * DOUBT * mean * mean / (samples * samples));
    float share = noise / (noise + max(apart / total - noise, 0.0) + 1e-30);
    light.rgb = mix(light.rgb, fitted.rgb, share);
    return light;
}
