// A pixel's light without its texture, and the variance of its mean as its samples tell it: one sample tells nothing.
// Needs the streams film, features.
#include "film/accumulate.glsl"
#include "film/denoise/reflectance.glsl"

Irradiance element(ivec2 at) {
    Film film = fetch_film(at);
    Features features = fetch_features(at);
    vec3 reflected = max(reflectance(features), 1e-6);
    float scale = film_luminance(reflected);
    Irradiance light;
    light.rgb = features.hits > 0.0 ? (film.sum / max(film.count, 1.0) - seen_light(features)) / reflected : vec3(0.0);
    light.variance = film.count > 1.0 ? film.square / (film.count * (film.count - 1.0) * scale * scale) : -1.0;
    if (features.hits == 0.0) light.variance = 0.0;
    return light;
}
