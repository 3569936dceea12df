// Ranges of boxes, by whole blocks where they hold some. ``add_range`` is generated: pyramids differ in their levels.
#include "deform/box.glsl"

// Splits a range of elements, (first, end): range becomes that of the whole blocks in it, head and tail those of the
// elements before and behind them.
void split_range(const int block, inout ivec2 range, out ivec2 head, out ivec2 tail) {
    int first = (range.x + block - 1) / block, last = range.y / block;
    bool has_blocks = first < last;
    head = ivec2(range.x, has_blocks ? first * block : range.y);
    tail = ivec2(has_blocks ? last * block : range.y, range.y);
    range = has_blocks ? ivec2(first, last) : ivec2(0);
}
