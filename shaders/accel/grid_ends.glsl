// Where rays leave a grid over the whole scene.
#include "interface/accel.glsl"

bool accel_ends(Traversal traversal, float nearest) {
    // A hit on the very border is left to the next voxel, which may hold a lower triangle number at the same distance.
    return nearest < traversal.t_exit || any(greaterThanEqual(uvec3(traversal.voxel), uvec3(grid_resolution)));
}
