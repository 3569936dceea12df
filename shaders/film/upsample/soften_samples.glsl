// Several samples, softened: a pixel is drawn to the median of its 3 x 3 first, by the share of its error in what it stands
// out (empirical Bayes: James and Stein 1961), so that what few samples leave is no speck. The error is that of the film
// around: lamps and textures that the camera sees in even light have none, and stay. Needs the stream film, too.
#include "film/upsample/softening.glsl"
#include "film/denoise/unconfirmed.glsl"

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

vec3 confirmed_light(vec3 around[9], ivec2 at, ivec2 last) {
    float squares = 0.0;  // of as many samples each, or nearly so
    for (int k = 0; k < 9; k++) squares += fetch_film(clamp(at + ivec2(k % 3, k / 3) - 1, ivec2(0), last)).square;
    float variance = squares / (9.0 * samples * max(fetch_film(at).count - 1.0, 1.0));
    vec3 middle = median(around), even = TONE * (middle + DIM * white);
    vec3 excess = around[4] - clamp(around[4], middle - even, middle + even);
    return around[4] - excess * unconfirmed(dot(abs(excess), LUMINANCE), variance / POOLED);
}
