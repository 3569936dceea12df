// The light that a regression has found, of each pixel of the film that it is of. Needs the streams lit, relief.
#include "film/regression/fitted_light.glsl"

Irradiance element(ivec2 at) {
    Lit own = fetch_lit(at);
    return Irradiance(fitted_light(Guide(own.normal, own.nearness), at), 0.0);
}
