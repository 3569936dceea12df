// Traversal of a uniform grid by a 3-D digital differential analyser.
// Amanatides and Woo 1987; in streams: Purcell 2004, section 3.3.2, memory layout of figure 5.1.
//
// grid_pointers holds, for each voxel, the address of its list in grid_lists, -1 if it is empty. Exit distances are
// recomputed from the voxel's index, so that no error accumulates along the ray; the builder covers the remaining
// rounding by widening the voxels (see viewer/accel/grid/build.py).
#include "interface/accel.glsl"
#include "lib/box.glsl"
#include "lib/direction.glsl"
#include "lib/int_of.glsl"
#include "accel/grid_ends.glsl"
#include "accel/grid_lists.glsl"
#include "accel/grid_start.glsl"

vec3 grid_inverse(Ray ray) {
    return 1.0 / nonzero(ray.direction);
}

vec2 grid_span(Ray ray, vec3 inverse) {
    return box_span((grid_low - ray.origin) * inverse, (grid_high - ray.origin) * inverse, ray.t_max);
}

vec3 grid_place(Ray ray, float t) {
    return (ray.origin + t * ray.direction - grid_low) / grid_voxel;
}

// Takes the list of the current voxel, and goes on to the next one: across the side that the ray meets first.
int accel_step(Ray ray, float nearest, inout Traversal traversal) {
    traversal.list = row_of(fetch_grid_pointers(traversal.voxel));
    bvec3 up = greaterThan(traversal.inverse, vec3(0.0));
    vec3 t_side = (grid_low + vec3(traversal.voxel + ivec3(up)) * grid_voxel - ray.origin) * traversal.inverse;
    bool exits_x = t_side.x <= t_side.y && t_side.x <= t_side.z;
    bool exits_y = !exits_x && t_side.y <= t_side.z;
    traversal.t_exit = exits_x ? t_side.x : exits_y ? t_side.y : t_side.z;
    traversal.voxel += ivec3(exits_x, exits_y, !(exits_x || exits_y)) * (2 * ivec3(up) - 1);
    return traversal.list >= 0 ? ACCEL_TEST : accel_ends(traversal, nearest) ? ACCEL_END : ACCEL_AGAIN;
}
