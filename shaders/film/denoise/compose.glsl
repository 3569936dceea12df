// The picture: the light with its texture again, and with what is seen of lights themselves. Needs the streams features,
// light.
#include "film/denoise/reflectance.glsl"

Radiance element(ivec2 at) {
    Features features = fetch_features(at);
    return Radiance(fetch_light(at).rgb * reflectance(features) + seen_light(features));
}
