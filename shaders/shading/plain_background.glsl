// A gradient from straight down to straight up, most of it about the horizon; one colour where both ends are the same.
#include "interface/background.glsl"

vec3 background_radiance(vec3 direction) {
    // Not mix(), which rounds otherwise where both are the same.
    return background_low + smoothstep(-0.5, 0.15, direction.y) * (background_high - background_low);
}
