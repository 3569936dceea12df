// A picture of few samples under a binomial filter of 3 x 3 pixels: at an edge the camera rays of seven pixels count, 1 / sum
// of squared weights, and what noise is left is shared. A pixel much brighter than this one, or darker, counts less, so
// that lamps do not glow (B. Karis, "High Quality Temporal Supersampling", 2014: weights by the inverse of brightness); of
// black ones by that of `DIM`, so that edges before black are smooth, too.
// Needs the stream shown, and confirmed_light.
#include "lib/luminance.glsl"

uniform float samples;  // of a pixel
uniform float rays;     // of the camera, that its edges are of: as many, or more
uniform float white;    // luminance that is displayed as white

const float DIM = 0.04;  // of white; from 0.05 on pixels beside small lamps are specks

// The light of a pixel, the middle one of ``around``, without what stands out of these by chance.
vec3 confirmed_light(vec3 around[9], ivec2 at, ivec2 last);

Shown element(ivec2 at) {
    ivec2 last = textureSize(in_shown_0, 0) - 1;
    vec3 around[9];
    for (int k = 0; k < 9; k++) around[k] = fetch_shown(clamp(at + ivec2(k % 3, k / 3) - 1, ivec2(0), last)).rgb;
    around[4] = confirmed_light(around, at, last);
    vec4 sum = vec4(0.0);
    for (int k = 0; k < 9; k++) {
        float binomial = float((2 - abs(k % 3 - 1)) * (2 - abs(k / 3 - 1)));
        sum += binomial / (dot(around[4] + around[k], LUMINANCE) + DIM * white) * vec4(around[k], 1.0);
    }
    return Shown(mix(around[4], sum.rgb / sum.a, 2.0 / (1.0 + rays)), fetch_shown(at).nearness);
}
