// What the eye gets of two estimates of a pixel's light: that of samples, filtered, whose variance is known, and the light that
// was known before, whose error is not. How far the two are apart around the pixel is at most the error of the known one, and
// the noise of the other; each counts by the inverse of its squared error, so that what was known goes as the noise falls.
// Light that stands out from all that the pixels around show, by more than a pixel's own samples confirm, is held back.
// Needs the streams lit (for its surfaces), light (of the samples), known (of any size).
#include "film/denoise/view.glsl"
#include "film/denoise/alike.glsl"
#include "film/denoise/reflected.glsl"
#include "lib/luminance.glsl"

uniform float samples;        // of each pixel

const float SPREAD = 1.0;     // squared, of one sample, as a share of its pixel's mean: of few the spread is not believed
const float SUPPORT = 16.0;   // pixels of one surface that the filter has put together, for each of the taps alike
const float LIKELY = 1.5;     // standard deviations of the light around that a pixel may be off it
const float ALONE = 0.3;      // of what is known, that a pixel may be off that where no pixel around tells
const float AROUND = 5.0;     // taps of one surface from which on they tell what is likely

Plane plane;
ivec2 middle, last;
float apart, variance, total;
vec3 sum, moments;            // of the taps around: of their light; of 1, its luminance and its square
vec4 darkest, brightest;      // of these the light, and its luminance

vec3 known_at(ivec2 place) {
    ivec2 size = textureSize(in_known_0, 0);
    return fetch_known(ivec2((vec2(place) + 0.5) * vec2(size) / vec2(last + 1))).rgb;
}

void tap(int x, int y) {
    ivec2 offset = ivec2(x, y), wanted = middle + offset, place = clamp(wanted, ivec2(0), last);
    Lit there = fetch_lit(place);
    Irradiance light = fetch_light(place);
    float weight = place == wanted ? falling(unlike(plane, Guide(there.normal, there.nearness), vec2(offset))) : 0.0;
    float difference = dot(light.rgb - known_at(place), LUMINANCE);
    apart += weight * difference * difference;
    variance += weight * max(light.variance, 0.0);
    total += weight;
    if (offset == ivec2(0)) return;
    float value = dot(light.rgb, LUMINANCE);
    sum += weight * light.rgb;
    moments += weight * vec3(1.0, value, value * value);
    if (weight > 0.5 && value < darkest.w) darkest = vec4(light.rgb, value);
    if (weight > 0.5 && value > brightest.w) brightest = vec4(light.rgb, value);
}

// A pixel's light, moved towards that around as far as neither that nor its own samples make it likely; where hardly a pixel
// around shows its surface, towards what is known. lit : its own samples' mean.
vec3 likely_light(vec3 light, vec3 known, Lit lit) {
    // Without the darkest and the brightest, which may be as unlikely.
    vec3 rest = moments - vec3(1.0, darkest.w, darkest.w * darkest.w) - vec3(1.0, brightest.w, brightest.w * brightest.w);
    bool lone = moments.x < AROUND;
    vec3 around = lone ? known : (sum - darkest.rgb - brightest.rgb) / rest.x;
    float mean = dot(around, LUMINANCE);
    float off = lone ? ALONE * mean : LIKELY * sqrt(max(rest.z / rest.x - mean * mean, 0.0));
    // One sample confirms nothing, and of few the spread is not believed.
    float error = samples > 1.0 ? max(sqrt(max(lit.variance, 0.0)), mean * inversesqrt(samples / SPREAD)) : 1e30;
    float value = dot(light, LUMINANCE), own = dot(lit.rgb, LUMINANCE);
    float held = clamp(value, min(mean - off, own + error), max(mean + off, own - error));
    return value == held ? light : mix(light, around, clamp((value - held) / (value - mean), 0.0, 1.0));
}

Irradiance element(ivec2 at) {
    Lit own = fetch_lit(at);
    Irradiance light = fetch_light(at);
    plane = plane_of(Guide(own.normal, own.nearness), at, 3.0);
    middle = at;
    last = textureSize(in_light_0, 0) - 1;
    apart = variance = total = 0.0;
    sum = moments = vec3(0.0);
    darkest = vec4(1e30);
    brightest = vec4(-1e30);
    tap(0, 0);
    for (int side = -1; side <= 1; side += 2) {
        tap(3 * side, 0);
        tap(0, 3 * side);
        tap(2 * side, 2);
        tap(2 * side, -2);
    }
    vec3 known = known_at(at);
    light.rgb = likely_light(light.rgb, known, own);
    float bright = max(dot(light.rgb, LUMINANCE), dot(known, LUMINANCE));
    float pixels = 1.0 + SUPPORT * (total - 1.0), least = SPREAD * bright * bright / (samples * max(pixels, 1.0));
    float noise = max(variance / max(total, 1e-6), least), share = noise / (noise + apart / max(total, 1e-6) + 1e-30);
    light.rgb = mix(light.rgb, known, share);
    light.variance = with_reflected(light.variance * (1.0 - share) * (1.0 - share), reflected_in(light.variance));
    return light;
}
