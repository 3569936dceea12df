// The walk through the grid of a numbered object, all of whose voxels lie in one volume (viewer/accel/grid/blocks.py).
// A. Adinetz and B. Berezin, "Implementing classical ray tracing on GPU" (2006): many grids in one texture, in blocks
// of 16^3. Rays are in the object's space, and their direction may have any length.
//
// The walk is that of grid_adinetz.glsl, in voxels of the object's grid, but for its coordinates: the corner is taken
// off before the scale is put on, which keeps every digit of objects that are far from their origin, and the walk
// keeps the ray's origin in voxels, so that a step need not look at the whole header. A step fetches the resolution
// and table of the header, the tile's corner, and the voxel.
#include "interface/accel.glsl"
#include "lib/direction.glsl"
#include "accel/grid_lists.glsl"

bool accel_enter(Ray ray, int object, out Walk walk) {
    GridHeader grid = fetch_grid_headers(object);
    vec3 direction = nonzero(ray.direction * grid.scale);
    walk.origin = (ray.origin - grid.low) * grid.scale;
    walk.inverse = 1.0 / direction;
    vec3 at_low = -walk.origin * walk.inverse;
    vec3 at_high = (vec3(grid.resolution) - walk.origin) * walk.inverse;
    vec3 nearer = min(at_low, at_high), farther = max(at_low, at_high);
    float enters = max(max(max(nearer.x, nearer.y), nearer.z), 0.0);
    float leaves = min(min(min(farther.x, farther.y), farther.z), ray.t_max);
    walk.voxel = clamp(ivec3(floor(walk.origin + enters * direction)), ivec3(0), grid.resolution - 1);
    walk.list = -1;
    walk.t_exit = 0.0;
    walk.object = object;
    return enters <= leaves;
}

bool accel_ends(Walk walk, float nearest) {
    // A hit at the very border waits for the next voxel, which may hold a lower triangle number at the same distance.
    return nearest < walk.t_exit || walk.voxel.x < 0;
}

int accel_step(Ray ray, float nearest, inout Walk walk) {
    GridHeader grid = fetch_grid_headers(walk.object);
    // A tile spans a block, or less where it is the only one along an axis.
    ivec3 tile = walk.voxel >> GRID_BLOCK_BITS, tiles = ((grid.resolution - 1) >> GRID_BLOCK_BITS) + 1;
    ivec3 corner = fetch_grid_tiles(grid.table + tile.x + tiles.x * (tile.y + tiles.y * tile.z)).corner;
    walk.list = int(fetch_grid_pointers(corner + walk.voxel - (tile << GRID_BLOCK_BITS)));
    ivec3 up = ivec3(greaterThan(walk.inverse, vec3(0.0)));
    vec3 t = (vec3(walk.voxel + up) - walk.origin) * walk.inverse;
    walk.t_exit = min(min(t.x, t.y), t.z);
    walk.voxel += ivec3(not(greaterThan(t, vec3(walk.t_exit)))) * (2 * up - 1);  // a NaN goes on, too: loops end
    if (any(greaterThanEqual(uvec3(walk.voxel), uvec3(grid.resolution)))) walk.voxel = ivec3(-1);
    return walk.list >= 0 ? ACCEL_TEST : accel_ends(walk, nearest) ? ACCEL_END : ACCEL_AGAIN;
}
