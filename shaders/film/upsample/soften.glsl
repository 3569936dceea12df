// One sample, whose error is not known, softened: a pixel that is darker than all but one of the eight around is as bright
// as that one, a dot and no line.
#include "film/upsample/softening.glsl"

vec3 confirmed_light(vec3 around[9], ivec2 at, ivec2 last) {
    float darkest = 3e38, second = 3e38, here = dot(around[4], LUMINANCE);
    for (int k = 0; k < 9; k++) {
        float luminance = k == 4 ? 3e38 : dot(around[k], LUMINANCE);
        second = min(second, max(darkest, luminance));
        darkest = min(darkest, luminance);
    }
    return around[4] + max(second - here, 0.0) * (here > 0.0 ? around[4] / here : vec3(1.0));
}
