// The box of an inner node with few leaves.
#include "deform/box.glsl"

uniform int count;  // inner nodes

// The union of the boxes of an inner node's leaves.
Box element(int number) {
    Range range = fetch_inner_ranges(min(number, count - 1));
    Box box = empty_box();
    for (int k = range.first; k < range.end; k++) add_box(box, fetch_leaves(k));
    return box;
}
