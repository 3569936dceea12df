// A pixel's light, with the variance of its mean as its samples' spread tells it (one sample tells nothing). Needs the
// streams film, features (of its samples), surfaces (features of as many, or more).
#include "film/denoise/lit_of.glsl"

uniform float efficiency;  // the variance of the picture's pixels by what the spread of independent samples says

Lit element(ivec2 at) {
    Film film = fetch_film(at);
    float variance = film.count > 1.0 ? efficiency * film.square / (film.count * (film.count - 1.0)) : -1.0;
    return lit_of(film, fetch_features(at), fetch_surfaces(at), at, variance);
}
