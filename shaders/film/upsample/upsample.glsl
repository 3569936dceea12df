// A picture of the light that a regression has found, of any size: texture, edges and relief are the larger picture's, and
// so is the view. Needs the streams features, which are the larger ones, lit, relief.
#include "film/denoise/surface_features.glsl"
#include "film/denoise/fitted_light.glsl"

Shown element(ivec2 at) {
    Features features = fetch_features(at);
    Guide guide = guide_of(features, at);
    return Shown(fitted_light(guide, surface_of(features), at) * reflectance(features) + seen_light(features), guide.nearness);
}
