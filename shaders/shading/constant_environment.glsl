// The same radiance from everywhere.
#include "interface/environment.glsl"

vec3 environment_radiance(vec3 direction) {
    return environment_color;
}
