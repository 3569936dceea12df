// Each row of voxels along x that a triangle's bounds hold: the voxels of it that the triangle overlaps.
uniform int row_count;
#include "grid_build/overlap.glsl"
#include "grid_build/owner_of.glsl"

Span element(int number) {
    if (number >= row_count) return Span(0, 0, 0);
    ivec2 size = textureSize(in_sums_0, 0);
    int owner = owner_of(number, size.x * size.y);
    Corners at = in_voxels(fetch_triangles(owner));
    ivec3 first, last;
    bounds_of(at, first, last);
    int tall = last.y - first.y + 1;
    int within = number - (owner > 0 ? fetch_sums(owner - 1).count : 0);
    int z = within / tall;
    int row_y = first.y + within - z * tall, row_z = first.z + z;
    ivec2 overlap = overlapped(at, first, last, row_y, row_z);
    int row = (row_z * build_resolution.y + row_y) * build_resolution.x;
    return Span(row + overlap.x, overlap.y, owner);
}
