// Unions of boxes. One that holds nothing has its low side above its high side.
#include "deform/finite.glsl"

Box empty_box() {
    return Box(vec3(3.4e38), vec3(-3.4e38));
}

void add_box(inout Box box, Box other) {
    box.low = min(box.low, other.low);
    box.high = max(box.high, other.high);
}

void add_triangle(inout Box box, Triangle triangle) {
    if (triangle.a.x > LARGEST_COORDINATE) return;
    box.low = min(box.low, min(min(triangle.a, triangle.b), triangle.c));
    box.high = max(box.high, max(max(triangle.a, triangle.b), triangle.c));
}
