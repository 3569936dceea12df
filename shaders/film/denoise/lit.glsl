// A pixel's light without its texture, the variance of its mean as its samples tell it (one sample tells nothing), and the
// surface that it is seen on. Needs the streams film, features.
#include "film/accumulate.glsl"
#include "film/denoise/guide_of.glsl"
#include "film/denoise/reflectance.glsl"
#include "film/denoise/reflected.glsl"

Lit element(ivec2 at) {
    Film film = fetch_film(at);
    Features features = fetch_features(at);
    Lit light = guide_of(features, at);
    vec3 reflected = max(reflectance(features), 1e-6);
    float scale = film_luminance(reflected);
    light.rgb = features.hits > 0.0 ? (film.sum / max(film.count, 1.0) - seen_light(features)) / reflected : vec3(0.0);
    light.variance = film.count > 1.0 ? film.square / (film.count * (film.count - 1.0) * scale * scale) : -1.0;
    if (features.hits == 0.0) light.variance = 0.0;
    light.variance = with_reflected(light.variance, scale);
    return light;
}
