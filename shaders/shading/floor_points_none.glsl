// No lights over the floor beside the environment: shading/floor_points.glsl.
#include "interface/floor_light.glsl"

void choose_floor_point(
    ivec2 pixel, int sample_number, vec3 at, vec2 point, inout float total, inout vec3 direction, inout float distance
) {}
