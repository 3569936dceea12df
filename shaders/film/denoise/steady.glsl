// A pixel's light with a steadier variance. The halves of a pixel's samples tell it by one squared difference, which by
// chance is often far too small: pixels that stand out of their noise would be kept as if they were true. Where light
// varies on the surface around by no more than noise, the variance is that of all pixels there (C. Schied et al. 2017,
// "Spatiotemporal Variance-Guided Filtering", section 4.2, filter it likewise), by their deviations, so that one firefly
// counts little. Where light varies by more, as in mirrors, each pixel keeps its own. A pixel that alone stands out of
// such a surface is a firefly, though its halves may agree by chance: the square by which it stands out is its variance,
// as of a single bright sample. Needs the stream lit.
#include "film/denoise/view.glsl"
#include "film/denoise/alike.glsl"
#include "film/denoise/reflected.glsl"
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

Lit element(ivec2 at) {
    Lit own = fetch_lit(at);
    ivec2 last = textureSize(in_lit_0, 0) - 1;
    Plane plane = plane_of(Guide(own.normal, own.nearness), at, float(STRIDE));
    float total = 0.0, deviation = 0.0, first = 0.0, second = 0.0, others = 0.0, other_first = 0.0, other_second = 0.0;
    for (int y = -TAPS; y <= TAPS; ++y) {
        for (int x = -TAPS; x <= TAPS; ++x) {
            ivec2 offset = STRIDE * ivec2(x, y), wanted = at + offset, place = clamp(wanted, ivec2(0), last);
            Lit there = fetch_lit(place);
            float weight = falling(unlike(plane, Guide(there.normal, there.nearness), vec2(offset)));
            if (place != wanted) weight = 0.0;
            float luminance = dot(there.rgb, LUMINANCE);
            total += weight;
            deviation += weight * sqrt(max(there.variance, 0.0));
            first += weight * luminance;
            second += weight * luminance * luminance;
            if (offset == ivec2(0)) weight = 0.0;
            others += weight;
            other_first += weight * luminance;
            other_second += weight * luminance * luminance;
        }
    }
    first /= total;
    deviation /= total;
    other_first /= max(others, 1e-20);
    other_second /= max(others, 1e-20);
    float variance = SQUARE * deviation * deviation, around = max(second / total - first * first, 0.0);
    float share = min(NOISE * variance / max(around, 1e-30), 1.0);
    float steady = mix(own.variance, GAIN * max(variance, OWN * own.variance), share * share);
    float spread = max(other_second - other_first * other_first, 0.0);
    float calm = min(CALM * max(variance - QUIET * first * first, 0.0) / max(spread, 1e-30), 1.0);
    float apart = others > 1.0 ? clamp(dot(own.rgb, LUMINANCE) - other_first, 0.0, BRIGHTEST) : 0.0;
    steady = max(steady, calm * calm * max(apart * apart - FIREFLY * variance, 0.0));
    own.variance = with_reflected(steady, reflected_in(own.variance));
    return own;
}
