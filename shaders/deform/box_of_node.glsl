// The box of a node of a bounding volume hierarchy.

uniform int count;  // nodes

Box element(int number) {
    NodeRange node = fetch_ranges(min(number, count - 1));
    Box box = empty_box();
    add_range(ivec2(node.first, node.end), box);
    return box;
}
