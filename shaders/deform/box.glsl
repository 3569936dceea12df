// Unions of boxes. One that holds nothing has its low side above its high side.

Box empty_box() {
    return Box(vec3(3.4e38), vec3(-3.4e38));
}

void add_box(inout Box box, Box other) {
    box.low = min(box.low, other.low);
    box.high = max(box.high, other.high);
}
