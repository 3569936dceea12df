// A pixel's light with the noise of the surface around, and bounded by it. Halves of a pixel's few samples tell its
// variance by one squared difference, which by chance is often far too small; pooled over pixels alike it is steady
// (C. Schied et al. 2017, "Spatiotemporal Variance-Guided Filtering", section 4.2), by deviations, so that one firefly
// counts little. Light beyond the second darkest or brightest of the eight pixels around (order statistics: P. Rousselle
// et al. 2013) is an outlier until it stands out of the noise. Needs the stream lit.
#include "film/regression/near.glsl"

uniform float samples;
const float PRIOR = 8.0;
const bool BOUNDS = false;
const int TAPS = 2, STRIDE = 2;  // to each side, and pixels between them
const float SQUARE = 1.57;       // pi / 2: variance by the squared mean of absolute normal deviates
const float OWN = 1.0;           // of a pixel's own variance, from which on it counts
const float CONFIRMED = 9.0;     // squared standard deviations, from which on light is no outlier
const float LEAST_ALIKE = 3.0;   // pixels around

// The luminance within the bounds, as far as noise explains that it is beyond.
float within(float luminance, float low, float high, float variance) {
    float bound = clamp(luminance, low, high), off = luminance - bound, square = off * off;
    float noise = CONFIRMED * variance;
    return variance < 0.0 || square <= noise ? bound : luminance - off * noise / square;
}

Lit element(ivec2 at) {
    Lit own = fetch_lit(at);
    if (!(own.nearness > 0.0)) return own;
    ivec2 last = textureSize(in_lit_0, 0) - 1;
    Plane plane = plane_near(Guide(own.normal, own.nearness), at, float(STRIDE));
    float deviation = sqrt(max(own.variance, 0.0)), total = 1.0, mean_variance = max(own.variance, 0.0);
    for (int y = -TAPS; y <= TAPS; ++y) {
        for (int x = -TAPS; x <= TAPS; ++x) {
            ivec2 offset = STRIDE * ivec2(x, y), wanted = at + offset, place = clamp(wanted, ivec2(0), last);
            Lit there = fetch_lit(place);
            float weight = falling(apart_from(plane, Guide(there.normal, there.nearness), vec2(offset)));
            weight *= same_surface(there.variance, own.variance);
            if (place != wanted || offset == ivec2(0)) weight = 0.0;
            total += weight;
            deviation += weight * sqrt(max(there.variance, 0.0));
            mean_variance += weight * max(there.variance, 0.0);
        }
    }
    deviation /= total;
    mean_variance /= total;
    vec2 low = vec2(1e30), high = vec2(-1e30);  // the two darkest and the two brightest
    float alike = 0.0;
    for (int k = 0; k < 9; ++k) {
        ivec2 offset = ivec2(k % 3, k / 3) - 1, place = clamp(at + offset, ivec2(0), last);
        Lit there = fetch_lit(place);
        float exponent = apart_from(plane, Guide(there.normal, there.nearness), vec2(offset));
        if (k == 4 || place != at + offset || exponent > 4.0) continue;
        float value = dot(there.rgb, LUMINANCE);
        low = vec2(min(low.x, value), min(low.y, max(low.x, value)));
        high = vec2(max(high.x, value), max(high.y, min(high.x, value)));
        alike += 1.0;
    }
    float variance = own.variance < 0.0 ? -1.0 : (PRIOR * mean_variance + (samples - 1.0) * own.variance) / (PRIOR + samples - 1.0);
    float luminance = dot(own.rgb, LUMINANCE);
    if (alike >= LEAST_ALIKE && BOUNDS) {
        float bound = within(luminance, low.y, max(high.y, low.y), variance);
        own.rgb = luminance > 0.0 ? own.rgb * (bound / luminance) : vec3(bound);
    }
    own.variance = with_surface(variance, surface_in(own.variance));
    return own;
}
