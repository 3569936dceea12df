// Traversal of a uniform grid after Adinetz and Berezin ("Implementing classical ray tracing on GPU", 2006): line
// drawing in voxels with the ray's own direction as the leading one. The parameter is the distance along the ray, and
// whole vectors are compared, without a case or an index per axis. (The published loop omits its step to the next
// voxel.) Same voxels, distances and memories as grid.glsl, but in texel coordinates: grid_scale a = N / L and
// grid_shift b = c0 - g0 N / L, N texels over the length L from the corner g0 at texel c0 (0 here; the paper's further
// factor dl, the size of a texel, is 1 for fetches by number). A ray through an edge or a corner of a voxel continues
// in the voxel across, past neighbours that it only touches; the builder's widening of voxels covers those, and the
// rounding (`rounding_margin`).
#include "interface/accel.glsl"
#include "lib/box.glsl"
#include "lib/direction.glsl"
#include "lib/int_of.glsl"
#include "accel/grid_ends.glsl"
#include "accel/grid_lists.glsl"
#include "accel/grid_start.glsl"

vec3 grid_inverse(Ray ray) {
    return 1.0 / nonzero(ray.direction * grid_scale);
}

vec2 grid_span(Ray ray, vec3 inverse) {
    vec3 origin = ray.origin * grid_scale + grid_shift;
    return box_span(-origin * inverse, (vec3(grid_resolution) - origin) * inverse, ray.t_max);
}

vec3 grid_place(Ray ray, float t) {
    return ray.origin * grid_scale + grid_shift + t * nonzero(ray.direction * grid_scale);
}

// Takes the list of the current voxel, and goes on to the next one along all axes whose side the ray meets first.
int accel_step(Ray ray, float nearest, inout Traversal traversal) {
    traversal.list = row_of(fetch_grid_pointers(traversal.voxel));
    vec3 origin = ray.origin * grid_scale + grid_shift;
    ivec3 up = ivec3(greaterThan(traversal.inverse, vec3(0.0)));
    vec3 t_side = (vec3(traversal.voxel + up) - origin) * traversal.inverse;
    traversal.t_exit = min(min(t_side.x, t_side.y), t_side.z);
    traversal.voxel += ivec3(not(greaterThan(t_side, vec3(traversal.t_exit)))) * (2 * up - 1);  // a NaN advances, too: loops end
    return traversal.list >= 0 ? ACCEL_TEST : accel_ends(traversal, nearest) ? ACCEL_END : ACCEL_AGAIN;
}
