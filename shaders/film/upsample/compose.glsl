// A picture at its light's size: the light times its texture, plus directly visible emission.
// Needs the streams features, light.
#include "film/denoise/surface_features.glsl"

Shown element(ivec2 at) {
    Features features = fetch_features(at);
    vec3 rgb = fetch_light(at).rgb * reflectance(features) + seen_light(features);
    return Shown(rgb, guide_of(features, at).nearness);
}
