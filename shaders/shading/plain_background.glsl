// A gradient from straight down to straight up, most of it about the horizon; one colour where both ends are the same.
#include "interface/background.glsl"

vec3 background_radiance(vec3 direction) {
    return mix(background_low, background_high, smoothstep(-0.6, 0.4, direction.y));
}
