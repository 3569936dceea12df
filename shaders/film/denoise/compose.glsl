// The picture: the light with its texture again. Where no sample hits anything it is the film's. Needs the streams film,
// features, light.
#include "film/denoise/reflectance.glsl"

Radiance element(ivec2 at) {
    Film film = fetch_film(at);
    Features features = fetch_features(at);
    Radiance radiance;
    radiance.rgb = fetch_light(at).rgb * reflectance(features) + seen_light(features);
    if (features.hits == 0.0) radiance.rgb = film.sum / max(film.count, 1.0);
    return radiance;
}
