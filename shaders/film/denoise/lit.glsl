// A pixel's light without its texture, with the variance of its mean as its samples' spread tells it, independent ones (one
// sample tells nothing), and the surface that it is seen on. Needs the streams film, features (of its samples: lamps and
// textures that other ones see are none of its light), surfaces (features of as many, or more).
// Where surfaces are blended, samples choose one of them at random. Divided by the reflectance of those that they chose
// their light has less noise, but a bias as 1 / samples; divided by that of all it has none. The latter counts by one
// sample's share, and alone where not all choices are among the features.
#include "film/accumulate.glsl"
#include "film/denoise/surface_features.glsl"

// The variance of a floor's mean where all of its samples agree, which bring the whole backdrop or nothing: the share of
// those that do is by the rule of succession (P.-S. Laplace, 1774) (n + 1) / (n + 2).
float succession(float count) {
    return (count + 1.0) / ((count + 2.0) * (count + 2.0) * max(count, 1.0));
}

Lit element(ivec2 at) {
    Film film = fetch_film(at);
    Features features = fetch_features(at), surfaces = fetch_surfaces(at);
    Guide guide = guide_of(surfaces, at);
    uint surface = surface_of(surfaces);
    bool blended = fract(surfaces.alike) > 0.0;
    if (features.hits == 0.0 && !blended) return Lit(vec3(0.0), 0.0, vec3(0.0), with_surface(0.0, surface));
    vec3 reflected = reflectance(features), seen = seen_light(features), mean = film.sum / max(film.count, 1.0);
    if (blended) {
        bool some = features.count < film.count;
        if (some) seen = seen_light(surfaces);
        reflected = mix(reflected, reflectance(surfaces), some ? 1.0 : 1.0 / max(film.count, 1.0));
    }
    reflected = max(reflected, 1e-6);
    float scale = film_luminance(reflected);
    float variance = film.count > 1.0 ? film.square / (film.count * (film.count - 1.0) * scale * scale) : -1.0;
    if (surfaces.instance < 0 && variance >= 0.0) variance = max(variance, succession(film.count));
    return Lit(guide.normal, guide.nearness, (mean - seen) / reflected, with_surface(variance, surface));
}
