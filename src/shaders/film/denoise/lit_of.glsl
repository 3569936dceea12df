// A pixel's light without its texture, and the surface that it is seen on.
#include "film/accumulate.glsl"
#include "film/denoise/guide_of.glsl"
#include "film/denoise/reflectance.glsl"
#include "film/denoise/reflected.glsl"

// variance: of the mean's luminance; below 0: not known.
Lit lit_of(Film film, Features features, ivec2 at, float variance) {
    Guide guide = guide_of(features, at);
    vec3 reflected = max(reflectance(features), 1e-6), mean = film.sum / max(film.count, 1.0);
    float scale = film_luminance(reflected);
    vec3 light = features.hits > 0.0 ? (mean - seen_light(features)) / reflected : vec3(0.0);
    if (variance > 0.0) variance /= scale * scale;
    if (features.hits == 0.0) variance = 0.0;
    return Lit(guide.normal, guide.nearness, light, with_reflected(variance, scale));
}
