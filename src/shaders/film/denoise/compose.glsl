// The picture: the light with its texture again, and with what is seen of lights themselves. Needs the streams features,
// lit, pooled, light.
#include "film/denoise/sliced.glsl"
#include "film/denoise/reflectance.glsl"

Radiance element(ivec2 at) {
    Features features = fetch_features(at);
    return Radiance(sliced(at, fetch_lit(at)).rgb * reflectance(features) + seen_light(features));
}
