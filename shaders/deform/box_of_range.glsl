// The box of a range of triangles, by whole blocks where it holds some. ``add_range`` is generated: pyramids differ in
// their levels.
#include "deform/box.glsl"

// Of a range of elements the first and the last ones that fill no block; the range is then that of the blocks between.
void split_range(inout ivec2 range, out ivec2 head, out ivec2 tail) {
    int first = (range.x + BLOCK - 1) / BLOCK, last = range.y / BLOCK;
    bool whole = first < last;
    head = ivec2(range.x, whole ? first * BLOCK : range.y);
    tail = ivec2(whole ? last * BLOCK : range.y, range.y);
    range = whole ? ivec2(first, last) : ivec2(0);
}
