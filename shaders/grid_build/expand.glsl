// The unsorted list: each pair of a voxel and a triangle, and elements of a voxel beyond the last, which sort to the
// end.
uniform int entries;
uniform int voxels;
#include "grid_build/owner_of.glsl"

// The element of a number: of the span that it falls into, the voxel that far from the span's first one.
Entry element(int number) {
    if (number >= entries) return Entry(voxels, number);
    ivec2 size = textureSize(in_sums_0, 0);
    int owner = owner_of(number, size.x * size.y);
    Span span = fetch_spans(owner);
    return Entry(span.first + number - (owner > 0 ? fetch_sums(owner - 1).count : 0), span.triangle);
}
