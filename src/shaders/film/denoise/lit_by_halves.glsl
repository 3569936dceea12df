// A pixel's light, with the variance of its mean as the halves of its samples tell it, see viewer/film/adaptive.py. Needs
// the streams film, features, half.
#include "film/denoise/lit_of.glsl"

uniform int told;  // 1: the sums of half are variances already

Lit element(ivec2 at) {
    Film film = fetch_film(at);
    Half first = fetch_half(at);
    float second = film_luminance(film.sum) - first.sum, apart = (first.sum - second) / max(first.count, 1.0);
    return lit_of(film, fetch_features(at), at, told == 1 ? first.sum : 0.25 * apart * apart);
}
