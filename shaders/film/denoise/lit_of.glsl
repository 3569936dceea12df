// A pixel's light without its texture, and the surface that it is seen on.
#include "film/accumulate.glsl"
#include "film/denoise/guide_of.glsl"
#include "film/denoise/reflectance.glsl"
#include "film/denoise/surface.glsl"

// The variance of a floor's mean where all of its samples agree, which bring the whole backdrop or nothing: the share of
// those that do is by the rule of succession (P.-S. Laplace, 1774) (n + 1) / (n + 2).
float succession(float count) {
    return (count + 1.0) / ((count + 2.0) * (count + 2.0) * max(count, 1.0));
}

// features: of the film's own samples, since lamps and textures that other ones see are none of its light. surfaces: of
// these and perhaps more. variance: of the mean's luminance; below 0: not known.
Lit lit_of(Film film, Features features, Features surfaces, ivec2 at, float variance) {
    Guide guide = guide_of(surfaces, at);
    if (features.hits == 0.0) guide = Guide(vec3(0.0), 0.0);
    vec3 reflected = max(reflectance(features), 1e-6), mean = film.sum / max(film.count, 1.0);
    float scale = film_luminance(reflected);
    vec3 light = features.hits > 0.0 ? (mean - seen_light(features)) / reflected : vec3(0.0);
    if (variance > 0.0) variance /= scale * scale;
    if (surfaces.instance < 0 && variance >= 0.0) variance = max(variance, succession(film.count));
    if (features.hits == 0.0) variance = 0.0;
    return Lit(guide.normal, guide.nearness, light, with_surface(variance, surface_of(surfaces)));
}
