// A pixel's light without its texture, with the variance of its mean as its samples' spread tells it, independent ones (one
// sample tells nothing), and the surface that it is seen on. Needs the streams film, features (of its samples: lamps and
// textures that other ones see are none of its light), surfaces (features of as many, or more).
// Where surfaces are blended, samples choose one of them at random: their light is divided by the reflectance of all. The
// mean of the light of each choice, divided by that one's own, has less noise, but is another one.
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
    bool blended = fract(surfaces.alike) > 0.0;  // a share of a ray: kernels/add_layer.glsl
    if (features.hits == 0.0 && !blended) return Lit(vec3(0.0), 0.0, vec3(0.0), with_surface(0.0, surface));
    vec3 reflected = max(reflectance(blended ? surfaces : features), 1e-6), mean = film.sum / max(film.count, 1.0);
    // Of some of the choices alone it would be noise.
    vec3 seen = blended && features.count < film.count ? seen_light(surfaces) : seen_light(features);
    float scale = film_luminance(reflected);
    float variance = film.count > 1.0 ? film.square / (film.count * (film.count - 1.0) * scale * scale) : -1.0;
    if (surfaces.instance < 0 && variance >= 0.0) variance = max(variance, succession(film.count));
    return Lit(guide.normal, guide.nearness, (mean - seen) / reflected, with_surface(variance, surface));
}
