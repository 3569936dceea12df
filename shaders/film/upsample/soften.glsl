// A picture of few samples under a binomial filter of 3 x 3 pixels: at an edge the camera rays of seven pixels count, 1 / sum
// of squared weights, and what noise is left is shared. A pixel much brighter than this one, or darker, counts less, so
// that lamps do not glow (B. Karis, "High Quality Temporal Supersampling", 2014: weights by the inverse of brightness); of
// black ones by that of `DIM`, so that edges before black are smooth, too.
// Before, a pixel is drawn to the median of its 3 x 3, by the share of its error in what it stands out (empirical Bayes:
// James and Stein 1961), so that what few samples leave is no speck. The error is that of the film around: lamps and
// textures that the camera sees in even light have none, and stay. Of one sample, whose error is not known, a pixel that is
// darker than all but one of the eight around is as bright as that one: a dot, no line.
// Needs the stream shown, and of several samples film.
#include "lib/luminance.glsl"
#include "film/denoise/unconfirmed.glsl"

uniform float samples;  // of a pixel
uniform float white;    // luminance that is displayed as white

const float DIM = 0.04;  // of white; from 0.05 on pixels beside small lamps are specks

#ifdef HAVE_SAMPLED
const float TONE = 0.15;     // of the median, as far as which a pixel stands out unnoticed
const float POOLED = 160.0;  // pixels of the film whose mean has the error of one that is denoised

vec3 median(vec3 a, vec3 b, vec3 c) {
    return max(min(a, b), min(max(a, b), c));
}

// Neither the rows' lesser least values nor their greater greatest ones are it (A. Paeth, "Median Finding on a 3 x 3 Grid",
// 1990).
vec3 median(vec3 values[9]) {
    vec3 least = vec3(-3e38), most = vec3(3e38), middle[3];
    for (int row = 0; row < 3; row++) {
        vec3 a = values[3 * row], b = values[3 * row + 1], c = values[3 * row + 2];
        least = max(least, min(a, min(b, c)));
        most = min(most, max(a, max(b, c)));
        middle[row] = median(a, b, c);
    }
    return median(least, median(middle[0], middle[1], middle[2]), most);
}
#endif

Shown element(ivec2 at) {
    ivec2 last = textureSize(in_shown_0, 0) - 1;
    Shown center = fetch_shown(at);
    vec3 around[9];
    for (int k = 0; k < 9; k++) around[k] = fetch_shown(clamp(at + ivec2(k % 3, k / 3) - 1, ivec2(0), last)).rgb;
#ifdef HAVE_SAMPLED
    float squares = 0.0;  // of as many samples each, or nearly so
    for (int k = 0; k < 9; k++) squares += fetch_film(clamp(at + ivec2(k % 3, k / 3) - 1, ivec2(0), last)).square;
    float variance = squares / (9.0 * samples * max(fetch_film(at).count - 1.0, 1.0));
    vec3 middle = median(around), even = TONE * (middle + DIM * white);
    vec3 excess = center.rgb - clamp(center.rgb, middle - even, middle + even);
    center.rgb -= excess * unconfirmed(dot(abs(excess), LUMINANCE), variance / POOLED);
    around[4] = center.rgb;
#else
    float darkest = 3e38, second = 3e38, here = dot(center.rgb, LUMINANCE);
    for (int k = 0; k < 9; k++) {
        float luminance = k == 4 ? 3e38 : dot(around[k], LUMINANCE);
        second = min(second, max(darkest, luminance));
        darkest = min(darkest, luminance);
    }
    around[4] += max(second - here, 0.0) * (here > 0.0 ? center.rgb / here : vec3(1.0));
#endif
    vec4 sum = vec4(0.0);
    for (int k = 0; k < 9; k++) {
        float binomial = float((2 - abs(k % 3 - 1)) * (2 - abs(k / 3 - 1)));
        sum += binomial / (dot(around[4] + around[k], LUMINANCE) + DIM * white) * vec4(around[k], 1.0);
    }
    return Shown(mix(center.rgb, sum.rgb / sum.a, 2.0 / (1.0 + samples)), center.nearness);
}
