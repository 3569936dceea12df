// The box of a block of boxes of the level below.
#include "deform/box.glsl"

uniform int block;  // elements in one
uniform int count;  // boxes

// The union of the boxes of block `number`.
Box element(int number) {
    Box box = empty_box();
    int end = min(block * (number + 1), count);
    for (int k = block * number; k < end; k++) add_box(box, fetch_below(k));
    return box;
}
