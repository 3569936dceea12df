// A picture larger than its light: of the four light pixels around each point those on its own surface are used (joint
// bilateral upsampling, Kopf et al. 2007); texture and edges are the larger picture's, and so is the view. Needs the
// streams features, which are the larger ones, lit, light.
#include "film/denoise/guide_of.glsl"
#include "film/denoise/reflectance.glsl"

uniform vec2 scale;  // size of the light's picture relative to this one's

Shown element(ivec2 at) {
    Features features = fetch_features(at);
    Guide guide = guide_of(features, at);
    Plane plane = plane_of(guide, at, 1.0 / min(scale.x, scale.y));
    vec2 place = (vec2(at) + 0.5) * scale - 0.5;
    ivec2 low = ivec2(floor(place)), last = textureSize(in_light_0, 0) - 1;
    vec2 part = place - vec2(low);
    vec3 sum = vec3(0.0);
    float total = 0.0;
    for (int k = 0; k < 4; ++k) {
        ivec2 corner = ivec2(k & 1, k >> 1), there = clamp(low + corner, ivec2(0), last);
        vec2 near = mix(1.0 - part, part, vec2(corner)), offset = (vec2(there) + 0.5) / scale - 0.5 - vec2(at);
        // Without a pixel on this surface, the nearest ones on any are used: the background has no light of this kind.
        Lit lit = fetch_lit(there);
        if (guide.nearness > 0.0 && lit.nearness <= 0.0) continue;
        float weight = near.x * near.y * (falling(unlike(plane, Guide(lit.normal, lit.nearness), offset)) + 1e-4);
        total += weight;
        sum += weight * fetch_light(there).rgb;
    }
    // At a silhouette all four may lie beyond it: those a step farther, the nearest ones most.
    for (int k = 0; total <= 0.0 && k < 2; ++k) {
        for (int tap = 0; tap < 16; ++tap) {
            ivec2 there = clamp(low + (k + 1) * (ivec2(tap & 3, tap >> 2) - 1), ivec2(0), last);
            vec2 apart = vec2(there) - place;
            Lit lit = fetch_lit(there);
            float weight = guide.nearness > 0.0 && lit.nearness <= 0.0 ? 0.0 : 1.0 / (1.0 + pow(dot(apart, apart), 2.0));
            total += weight;
            sum += weight * fetch_light(there).rgb;
        }
    }
    sum /= max(total, 1e-6);
    return Shown(sum * reflectance(features) + seen_light(features), guide.nearness);
}
