// The box of a leaf's triangles, of those that are nowhere none.
#include "deform/box.glsl"
#include "deform/finite.glsl"

uniform int count;  // leaves

// The box of a leaf's posed triangles.
Box element(int number) {
    Range range = fetch_leaf_ranges(min(number, count - 1));
    Box box = empty_box();
    for (int k = range.first; k < range.end; k++) {
        Triangle triangle = fetch_triangles_posed(k);
        vec3 low = min(min(triangle.a, triangle.b), triangle.c), high = max(max(triangle.a, triangle.b), triangle.c);
        if (triangle.a.x <= LARGEST_COORDINATE) add_box(box, Box(low, high));
    }
    return box;
}
