// The light of every pixel, and its variance. Needs the streams lit, pooled, light.
#include "film/denoise/sliced.glsl"

Irradiance element(ivec2 at) {
    Lit own = fetch_lit(at);
    Irradiance light = sliced(at, own);
    light.variance = with_reflected(light.variance, reflected_in(own.variance));
    return light;
}
