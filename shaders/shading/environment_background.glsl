// The environment itself, in front of which a floor may lie.
#include "interface/background.glsl"
#include "interface/environment.glsl"

vec3 background_radiance(vec3 direction) {
    return environment_radiance(direction);
}
