// The box of an inner node with many leaves.

uniform int count;  // inner nodes

// The union of the boxes of an inner node's leaves, by whole blocks.
Box element(int number) {
    Range range = fetch_inner_ranges(min(number, count - 1));
    Box box = empty_box();
    add_range(ivec2(range.first, range.end), box);
    return box;
}
