// A picture of few samples under a binomial filter of 3 x 3 pixels: at an edge the camera rays of seven pixels count, 1 / sum
// of squared weights, and what noise is left is shared. A pixel much brighter than this one, or darker, counts less, so
// that lamps do not glow (B. Karis, "High Quality Temporal Supersampling", 2014: weights by the inverse of brightness).
// Needs the stream shown.
#include "lib/luminance.glsl"

uniform float softness;  // the filter's share, 0 .. 1

Shown element(ivec2 at) {
    ivec2 last = textureSize(in_shown_0, 0) - 1;
    Shown center = fetch_shown(at);
    vec4 sum = vec4(0.0);
    for (int k = 0; k < 9; k++) {
        ivec2 offset = ivec2(k % 3, k / 3) - 1;
        vec3 rgb = fetch_shown(clamp(at + offset, ivec2(0), last)).rgb;
        float binomial = float((2 - abs(offset.x)) * (2 - abs(offset.y)));
        sum += binomial / (dot(center.rgb + rgb, LUMINANCE) + 1e-6) * vec4(rgb, 1.0);
    }
    return Shown(mix(center.rgb, sum.rgb / sum.a, softness), center.nearness);
}
