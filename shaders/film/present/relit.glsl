// The light that a regression has found, of each pixel of the film that it is of. Needs the streams lit, relief.
#include "film/denoise/reflected.glsl"
#include "film/regression/relit.glsl"

Irradiance element(ivec2 at) {
    Lit own = fetch_lit(at);
    return Irradiance(relit(Guide(own.normal, own.nearness), at), own.variance);
}
