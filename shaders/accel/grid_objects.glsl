// Traversal of a numbered object's grid; the voxels of all grids share one volume (viewer/accel/grid/blocks.py). A.
// Adinetz and B. Berezin, "Implementing classical ray tracing on GPU" (2006): many grids in one texture, in blocks of
// 16^3. Rays are in the object's space, with directions of any length.
//
// As grid_adinetz.glsl, in voxels of the object's grid, except for coordinates. The corner is subtracted before
// scaling, which keeps all digits of objects far from their origin. The state holds the ray's origin in voxels, so that
// a step need not read the whole header: it fetches resolution and table, the tile's corner, and the voxel.
#include "interface/accel.glsl"
#include "lib/box.glsl"
#include "lib/direction.glsl"
#include "lib/int_of.glsl"
#include "accel/grid_lists.glsl"

bool accel_start(Ray ray, int object, out Traversal traversal) {
    GridHeader grid = fetch_grid_headers(object);
    vec3 direction = nonzero(ray.direction * grid.scale);
    traversal.origin = (ray.origin - grid.low) * grid.scale;
    traversal.inverse = 1.0 / direction;
    vec3 at_low = -traversal.origin * traversal.inverse;
    vec3 at_high = (vec3(grid.resolution) - traversal.origin) * traversal.inverse;
    vec2 span = box_span(at_low, at_high, ray.t_max);
    traversal.voxel = clamp(ivec3(floor(traversal.origin + span.x * direction)), ivec3(0), grid.resolution - 1);
    traversal.list = -1;
    traversal.t_exit = 0.0;
    traversal.object = object;
    return span.x <= span.y;
}

bool accel_ends(Traversal traversal, float nearest) {
    // A hit on the very border is left to the next voxel, which may hold a lower triangle number at the same distance.
    return nearest < traversal.t_exit || traversal.voxel.x < 0;
}

// Takes the list of the current voxel of the object's grid, and goes on to the next one; -1 beyond the grid.
int accel_step(Ray ray, float nearest, inout Traversal traversal) {
    GridHeader grid = fetch_grid_headers(traversal.object);
    // A tile spans a block, or less if it is the only one along an axis.
    ivec3 tile = traversal.voxel >> GRID_BLOCK_BITS, tile_counts = ((grid.resolution - 1) >> GRID_BLOCK_BITS) + 1;
    ivec3 corner = fetch_grid_tiles(grid.table + tile.x + tile_counts.x * (tile.y + tile_counts.y * tile.z)).corner;
    traversal.list = row_of(fetch_grid_pointers(corner + traversal.voxel - (tile << GRID_BLOCK_BITS)));
    ivec3 up = ivec3(greaterThan(traversal.inverse, vec3(0.0)));
    vec3 t_side = (vec3(traversal.voxel + up) - traversal.origin) * traversal.inverse;
    traversal.t_exit = min(min(t_side.x, t_side.y), t_side.z);
    traversal.voxel += ivec3(not(greaterThan(t_side, vec3(traversal.t_exit)))) * (2 * up - 1);  // a NaN advances, too: loops end
    if (any(greaterThanEqual(uvec3(traversal.voxel), uvec3(grid.resolution)))) traversal.voxel = ivec3(-1);
    return traversal.list >= 0 ? ACCEL_TEST : accel_ends(traversal, nearest) ? ACCEL_END : ACCEL_AGAIN;
}
