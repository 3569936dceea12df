// The box of a block of triangles.
#include "deform/box.glsl"

uniform int block;  // elements in one
uniform int count;  // triangles

Box element(int number) {
    Box box = empty_box();
    int end = min(block * (number + 1), count);
    for (int k = block * number; k < end; k++) add_triangle(box, fetch_triangles_posed(k));
    return box;
}
