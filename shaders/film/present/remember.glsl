// The light of a picture that was made for other samples of the same view: what the film is blended with while it has few.
// Needs the streams features, of the picture's surfaces, shown.
#include "film/denoise/reflectance.glsl"

Irradiance element(ivec2 at) {
    Features features = fetch_features(at);
    vec3 light = (fetch_shown(at).rgb - seen_light(features)) / max(reflectance(features), 1e-6);
    return Irradiance(features.hits > 0.0 ? max(light, 0.0) : vec3(0.0), 0.0);
}
