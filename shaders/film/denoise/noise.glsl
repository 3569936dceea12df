// A pixel's light with a steadier variance. Few samples tell it badly, and two that agree tell nothing: it is moderated by
// the mean variance of the pixels around that are alike (an inverse chi-squared prior; G. Smyth, "Linear Models and
// Empirical Bayes Methods", 2004), relative to their light. A mean, since light of few samples is mostly dark, and rarely
// bright. That a pixel has less noise tell only those of its samples that carry light (L. Kish's effective sample size,
// 1965): dark ones may have missed it. Of one sample the variance is that of the light around, below 0, as it is not its
// own. Needs the stream lit.
#include "film/denoise/alike.glsl"

uniform float samples;  // of each pixel

const int TAPS = 2;        // to each side
const float LOOSE = 1e-3;  // weight of those that are not alike: a pixel without any has the noise of all around

Lit element(ivec2 at) {
    Lit center = fetch_lit(at);
    if (!(center.nearness > 0.0)) return center;
    ivec2 last = textureSize(in_lit_0, 0) - 1;
    int stride = samples > 1.0 ? 2 : 1;  // of one sample as near as the first step of the fit
    Plane plane = plane_of(Guide(center.normal, center.nearness), at, float(stride), REGRESSED);
    float total = 1e-20, sum = 0.0, first = 0.0, second = 0.0;
    for (int y = -TAPS; y <= TAPS; ++y) {
        for (int x = -TAPS; x <= TAPS; ++x) {
            ivec2 offset = stride * ivec2(x, y), place = at + offset;
            if (offset == ivec2(0) || place != clamp(place, ivec2(0), last)) continue;
            Lit neighbour = fetch_lit(place);
            float weight = falling(unlike(plane, Guide(neighbour.normal, neighbour.nearness), vec2(offset)));
            weight = neighbour.nearness > 0.0 ? weight * same_surface(neighbour.variance, center.variance) + LOOSE : 0.0;
            float light = dot(neighbour.rgb, LUMINANCE);
            total += weight;
            sum += weight * neighbour.variance;
            first += weight * light;
            second += weight * light * light;
        }
    }
    float light = dot(center.rgb, LUMINANCE), square = light * light, prior = sum / total, freedom = samples - 1.0;
    float mean = (first + light) / (total + 1.0), variance = -max((second + square) / (total + 1.0) - mean * mean, 1e-20);
    if (center.variance >= 0.0) {
        second /= total;
        if (center.variance < prior) freedom = max(samples * square / (square + samples * center.variance + 1e-30) - 1.0, 0.0);
        prior *= (second + freedom * square) / ((1.0 + freedom) * second + 1e-30);
        variance = (prior + freedom * center.variance) / (1.0 + freedom) * (1.0 + 1.0 / (samples * samples));
    }
    center.variance = with_surface(variance, surface_in(center.variance));
    return center;
}
