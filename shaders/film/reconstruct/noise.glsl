// A pixel's light with a steadier variance. Few samples tell it badly, and two that agree tell nothing: it is moderated by
// the mean variance of the pixels around that are alike, which counts as PRIOR samples (an inverse chi-squared prior;
// G. Smyth, "Linear Models and Empirical Bayes Methods", 2004). A mean, since light of few samples is mostly dark, and
// rarely bright. Needs the stream lit.
#include "film/regression/near.glsl"

uniform float samples;  // of each pixel

const int TAPS = 2, STRIDE = 2;  // to each side, and pixels between them
const float PRIOR = 1.0, LOOSE = 1e-3;

Lit element(ivec2 at) {
    Lit own = fetch_lit(at);
    if (!(own.nearness > 0.0) || own.variance < 0.0) return own;
    ivec2 last = textureSize(in_lit_0, 0) - 1;
    Plane plane = plane_near(Guide(own.normal, own.nearness), at, float(STRIDE));
    float total = 0.0, sum = 0.0, squares = 0.0;
    for (int y = -TAPS; y <= TAPS; ++y) {
        for (int x = -TAPS; x <= TAPS; ++x) {
            ivec2 offset = STRIDE * ivec2(x, y), wanted = at + offset, place = clamp(wanted, ivec2(0), last);
            Lit there = fetch_lit(place);
            float weight = falling(apart_from(plane, Guide(there.normal, there.nearness), vec2(offset)));
            weight *= same_surface(there.variance, own.variance);
            weight = place != wanted || offset == ivec2(0) || !(there.nearness > 0.0) ? 0.0 : weight + LOOSE;
            total += weight;
            sum += weight * max(there.variance, 0.0);
            float light = dot(there.rgb, LUMINANCE);
            squares += weight * light * light;
        }
    }
    if (total <= 0.0) return own;
    float mean = dot(own.rgb, LUMINANCE), square = mean * mean;
    float freedom = samples - 1.0, prior = sum / total;
    if (own.variance < prior) freedom = max(samples * square / (square + samples * own.variance + 1e-30) - 1.0, 0.0);
    prior *= (PRIOR * squares + freedom * square * total) / ((PRIOR + freedom) * squares + 1e-30);
    float variance = (PRIOR * prior + freedom * own.variance) / (PRIOR + freedom);
    own.variance = with_surface(variance * (1.0 + 1.0 / (samples * samples)), surface_in(own.variance));
    return own;
}
