// A pixel's light with a steadier variance. The halves of a pixel's samples tell it by one squared difference, which by
// chance is often far too small: pixels that stand out of their noise would be kept as if they were true. Where light
// varies on the surface around by no more than noise, the variance is that of all pixels there (C. Schied et al. 2017,
// "Spatiotemporal Variance-Guided Filtering", section 4.2, filter it likewise), by their deviations, so that one firefly
// counts little. Where light varies by more, as in mirrors, each pixel keeps its own. A pixel that alone stands out of
// such a surface is a firefly, though its halves may agree by chance: the square by which it stands out is its variance,
// as of a single bright sample. Needs the stream lit.
#include "film/denoise/view.glsl"
#include "film/denoise/alike.glsl"
#include "film/denoise/surface.glsl"
#include "lib/luminance.glsl"

const int TAPS = 2, STRIDE = 2;  // to each side, and pixels between them
const float SQUARE = 1.57;       // pi / 2: variance by the squared mean of absolute normal deviates
const float NOISE = 1.25;        // of the variance, up to which light varies by noise alone
const float OWN = 0.5;           // of a pixel's own variance, from which on it counts
const float GAIN = 2.0;          // where there is noise alone: more light counts as alike
const float FIREFLY = 9.0;       // of the variance: the square by which a brighter pixel stands out of the others' noise
const float CALM = 2.0;          // of the variance, up to which the others vary by noise alone
const float QUIET = 1e-6;        // of squared light: less variance is none
const float BRIGHTEST = 1e18;    // whose square is finite
const float LEVEL = 0.5;         // of a stride, squared: added to the places' variance, so that few pixels make no steep plane

// Luminance of the pixels around, as a plane of the place.
float others = 0.0;             // their weights' sum
vec3 mean = vec3(0.0);          // of place and luminance
vec3 products = vec3(0.0);      // of xx, xy, yy
vec2 slanted = vec2(0.0);       // of x and y with luminance
float squares = 0.0;            // of luminance

void add(vec2 place, float luminance, float weight) {
    others += weight;
    mean += weight * vec3(place, luminance);
    products += weight * vec3(place.x * place.x, place.x * place.y, place.y * place.y);
    slanted += weight * place * luminance;
    squares += weight * luminance * luminance;
}

// The plane's value at the middle, and the variance of what is off it.
vec2 solved() {
    if (others <= 0.0) return vec2(0.0);
    float scale = 1.0 / others;
    mean *= scale;
    vec3 spread = scale * products - vec3(mean.x * mean.x, mean.x * mean.y, mean.y * mean.y);
    vec2 along = scale * slanted - mean.xy * mean.z;
    spread.xz += LEVEL * float(STRIDE * STRIDE);
    vec2 slope = vec2(spread.z * along.x - spread.y * along.y, spread.x * along.y - spread.y * along.x);
    slope /= spread.x * spread.z - spread.y * spread.y;
    return vec2(mean.z - dot(slope, mean.xy), max(scale * squares - mean.z * mean.z - dot(slope, along), 0.0));
}

Lit element(ivec2 at) {
    Lit own = fetch_lit(at);
    ivec2 last = textureSize(in_lit_0, 0) - 1;
    Plane plane = plane_of(Guide(own.normal, own.nearness), at, float(STRIDE));
    float deviation = 0.0, luminance = dot(own.rgb, LUMINANCE);
    for (int y = -TAPS; y <= TAPS; ++y) {
        for (int x = -TAPS; x <= TAPS; ++x) {
            ivec2 offset = STRIDE * ivec2(x, y), wanted = at + offset, place = clamp(wanted, ivec2(0), last);
            Lit there = fetch_lit(place);
            float weight = falling(unlike(plane, Guide(there.normal, there.nearness), vec2(offset)));
            if (place != wanted) weight = 0.0;
            deviation += weight * sqrt(max(there.variance, 0.0));
            if (offset != ivec2(0)) add(vec2(offset), dot(there.rgb, LUMINANCE), weight);
        }
    }
    deviation /= 1.0 + others;
    vec2 around = solved();
    float variance = SQUARE * deviation * deviation, apart = others > 0.0 ? luminance - around.x : 0.0;
    float spread = (others * around.y + apart * apart) / (1.0 + others);
    float share = min(NOISE * variance / max(spread, 1e-30), 1.0);
    float steady = mix(own.variance, GAIN * max(variance, OWN * own.variance), share * share);
    float calm = min(CALM * max(variance - QUIET * around.x * around.x, 0.0) / max(around.y, 1e-30), 1.0);
    apart = others > 1.0 ? clamp(apart, 0.0, BRIGHTEST) : 0.0;
    steady = max(steady, calm * calm * max(apart * apart - FIREFLY * variance, 0.0));
    own.variance = with_reflected(steady, reflected_in(own.variance));
    return own;
}
