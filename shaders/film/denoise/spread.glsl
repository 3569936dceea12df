// The further steps, of points. Needs the stream moments.
#include "film/denoise/alike.glsl"

Moments moments_at(ivec2 place) {
    return fetch_moments(place);
}

#include "film/denoise/step.glsl"

Moments element(ivec2 at) {
    return step_at(at, textureSize(in_moments_0, 0) - 1);
}
