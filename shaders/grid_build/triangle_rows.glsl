// Rows of voxels along x within the bounds of each triangle; none of triangles that are not listed.
uniform int triangle_count;
#include "grid_build/overlap.glsl"

// The number of rows of a triangle, by its number.
Count element(int number) {
    if (number >= triangle_count) return Count(0);
    Triangle triangle = fetch_triangles(number);
    ivec3 first, last;
    bounds_of(in_voxels(triangle), first, last);
    ivec3 size = max(last - first + 1, ivec3(0));
    return Count(listed(triangle) && size.x > 0 ? size.y * size.z : 0);
}
