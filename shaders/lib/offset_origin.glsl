// Ray origins moved off a surface, against self-intersection. The distance follows the position's error bound, as in
// Pharr, Jakob and Humphreys (2016, section 3.9.5).
#include "lib/lifted.glsl"

// A point on the side of the surface of the direction. normal: geometric, unit, either side. error: bound of the
// rounding error of each coordinate of position.
vec3 offset_origin(vec3 position, vec3 normal, vec3 direction, float error) {
    // Summed over the axes: an error box's extent along the normal.
    float offset = facet_error(error) * (abs(normal.x) + abs(normal.y) + abs(normal.z));
    return position + normal * (dot(normal, direction) < 0.0 ? -offset : offset);
}
