// What a regression has missed of a pixel's light, and noise. Needs the streams lit, relief.
#include "film/regression/fitted_light.glsl"

Residual element(ivec2 at) {
    Lit own = fetch_lit(at);
    vec3 fitted = fitted_light(Guide(own.normal, own.nearness), surface_in(own.variance), at);
    return Residual(own.rgb - fitted, own.variance, fitted);
}
