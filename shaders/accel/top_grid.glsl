// Traversal of a uniform grid over instances: the differential analyser of grid.glsl, with instances in its lists.
// Amanatides and Woo 1987; two levels of grids: A. Adinetz and B. Berezin, "Implementing classical ray tracing on GPU"
// (2006). A voxel is one number, x + nx * (y + ny * z), -1 beyond the grid. An instance is traversed in full,
// regardless of the voxel, so that the last one need not be traversed again in the next voxel. top_entries holds the
// address of each voxel's list, -1 if it is empty, and from top_lists on the lists.
#include "interface/top.glsl"
#include "lib/box.glsl"
#include "lib/direction.glsl"
#include "lib/texel_of.glsl"

bool top_start(Ray ray, out TopTraversal top) {
    vec3 inverse = 1.0 / nonzero(ray.direction);
    vec3 at_low = (top_low - ray.origin) * inverse;
    vec3 at_high = (top_low + vec3(top_resolution) * top_voxel - ray.origin) * inverse;
    vec2 span = box_span(at_low, at_high, ray.t_max);
    vec3 entry_point = (ray.origin + span.x * ray.direction - top_low) / top_voxel;
    ivec3 voxel = clamp(ivec3(floor(entry_point)), ivec3(0), top_resolution - 1);
    top = TopTraversal(voxel.x + top_resolution.x * (voxel.y + top_resolution.y * voxel.z), -1, -1, 0.0);
    return span.x <= span.y;
}

bool top_ends(TopTraversal top, float nearest) {
    return top.list < 0 && (nearest < top.t_exit || top.voxel < 0);
}

// Takes the next instance of the current voxel's list, or with none left the list of the next voxel.
int top_step(Ray ray, float nearest, inout TopTraversal top) {
    if (top_ends(top, nearest)) return ACCEL_END;
    if (top.list < 0) {
        top.list = fetch_top_entries(top.voxel).entry;
        ivec2 row = texel_of(top.voxel, top_resolution.x);
        ivec3 voxel = ivec3(row.x, texel_of(row.y, top_resolution.y));
        vec3 inverse = 1.0 / nonzero(ray.direction);
        bvec3 up = greaterThan(inverse, vec3(0.0));
        vec3 t_side = (top_low + vec3(voxel + ivec3(up)) * top_voxel - ray.origin) * inverse;
        bool exits_x = t_side.x <= t_side.y && t_side.x <= t_side.z;
        bool exits_y = !exits_x && t_side.y <= t_side.z;
        top.t_exit = exits_x ? t_side.x : exits_y ? t_side.y : t_side.z;
        voxel += ivec3(exits_x, exits_y, !(exits_x || exits_y)) * (2 * ivec3(up) - 1);
        bool leaves_grid = any(greaterThanEqual(uvec3(voxel), uvec3(top_resolution)));
        top.voxel = leaves_grid ? -1 : voxel.x + top_resolution.x * (voxel.y + top_resolution.y * voxel.z);
        if (top.list < 0) return top_ends(top, nearest) ? ACCEL_END : ACCEL_AGAIN;
    }
    int entry = fetch_top_entries(top_lists + top.list).entry;
    bool is_last = entry < 0;
    int instance = is_last ? -entry - 1 : entry;
    top.list = is_last ? -1 : top.list + 1;
    if (instance == top.instance) return top_ends(top, nearest) ? ACCEL_END : ACCEL_AGAIN;
    top.instance = instance;
    return ACCEL_TEST;
}
