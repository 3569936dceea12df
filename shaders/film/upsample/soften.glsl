// A picture of few samples under a binomial filter of 3 x 3 pixels: at an edge the camera rays of seven pixels count, 1 / sum
// of squared weights, and what noise is left is shared. A pixel much brighter than this one, or darker, counts less, so
// that lamps do not glow (B. Karis, "High Quality Temporal Supersampling", 2014: weights by the inverse of brightness); of
// black ones by that of `DIM`, so that edges before black are smooth, too. A
// pixel that is darker than all but one of the eight around is first as bright as that one: a dot, no line.
// Needs the stream shown.
#include "lib/luminance.glsl"

uniform float softness;  // the filter's share, 0 .. 1
uniform float white;     // luminance that is displayed as white

const float DIM = 0.04;  // of white; from 0.05 on pixels beside small lamps are specks

Shown element(ivec2 at) {
    ivec2 last = textureSize(in_shown_0, 0) - 1;
    Shown center = fetch_shown(at);
    vec3 around[9];
    float darkest = 3e38, second = 3e38;
    for (int k = 0; k < 9; k++) {
        around[k] = fetch_shown(clamp(at + ivec2(k % 3, k / 3) - 1, ivec2(0), last)).rgb;
        float luminance = dot(around[k], LUMINANCE);
        if (k != 4) {
            second = min(second, max(darkest, luminance));
            darkest = min(darkest, luminance);
        }
    }
    float here = dot(center.rgb, LUMINANCE);
    around[4] += max(second - here, 0.0) * (here > 0.0 ? center.rgb / here : vec3(1.0));
    vec4 sum = vec4(0.0);
    for (int k = 0; k < 9; k++) {
        float binomial = float((2 - abs(k % 3 - 1)) * (2 - abs(k / 3 - 1)));
        sum += binomial / (dot(around[4] + around[k], LUMINANCE) + DIM * white) * vec4(around[k], 1.0);
    }
    return Shown(mix(center.rgb, sum.rgb / sum.a, softness), center.nearness);
}
