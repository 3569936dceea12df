// Each row of voxels along x that a triangle's bounds hold: the voxels of it that the triangle overlaps.
uniform int row_count;
#include "grid_build/overlap.glsl"
#include "grid_build/owner_of.glsl"

// The span of row number `number` of all triangles' rows, one triangle after the other.
Span element(int number) {
    if (number >= row_count) return Span(0, 0, 0);
    ivec2 size = textureSize(in_sums_0, 0);
    int owner = owner_of(number, size.x * size.y);
    Corners corners = in_voxels(fetch_triangles(owner));
    ivec3 first, last;
    bounds_of(corners, first, last);
    int rows_along_y = last.y - first.y + 1;
    int row_in_triangle = number - (owner > 0 ? fetch_sums(owner - 1).count : 0);
    int layer = row_in_triangle / rows_along_y;
    int row_y = first.y + row_in_triangle - layer * rows_along_y, row_z = first.z + layer;
    ivec2 first_and_count = overlapped(corners, first, last, row_y, row_z);
    int row = (row_z * build_resolution.y + row_y) * build_resolution.x;
    return Span(row + first_and_count.x, first_and_count.y, owner);
}
