// A pixel's light without its texture, the variance of its mean as its samples tell it (one sample tells nothing), and the
// surface that it is seen on. Needs the streams film, features, half.
#include "film/accumulate.glsl"
#include "film/denoise/guide_of.glsl"
#include "film/denoise/reflectance.glsl"
#include "film/denoise/reflected.glsl"

uniform int told;          // by what the variance is: 0: the samples' spread; 1: their halves, where a pixel has two
                           // whole ones, see viewer/film/adaptive.py; 2: the sums of half are variances
uniform float efficiency;  // the variance of the picture's pixels by what their samples' spread says

Lit element(ivec2 at) {
    Film film = fetch_film(at);
    Features features = fetch_features(at);
    Guide guide = guide_of(features, at);
    vec3 reflected = max(reflectance(features), 1e-6);
    float scale = film_luminance(reflected), count = max(film.count, 1.0), variance = -1.0;
    vec3 light = features.hits > 0.0 ? (film.sum / count - seen_light(features)) / reflected : vec3(0.0);
    if (count > 1.0) variance = efficiency * film.square / (count * (count - 1.0));
    if (told > 0) {
        Half kept = fetch_half(at);
        float rest = film_luminance(film.sum) - kept.sum, apart = (kept.sum - rest) / max(kept.count, 1.0);
        if (told == 2) variance = kept.sum;
        else if (kept.count > 0.0 && count == 2.0 * kept.count) variance = 0.25 * apart * apart;
    }
    if (variance > 0.0) variance /= scale * scale;
    if (features.hits == 0.0) variance = 0.0;
    return Lit(guide.normal, guide.nearness, light, with_reflected(variance, scale));
}
