// Boxes as trees store them: slightly enlarged, as viewer/accel/bvh_tree.py says. Where nothing is held, a point: rays
// would take an empty box for one that holds everything.

// The box at an address: of an inner node, below zero of a leaf.
Box box_at(int address) {
    Box inner = fetch_inner(max(address, 0)), leaf = fetch_leaves(max(-1 - address, 0));
    if (address < 0) return leaf;
    return inner;
}

// A box enlarged by rounding errors of its own and of its tree's root; a point where it is empty.
Box widened(Box box, Box root) {
    if (box.low.x > box.high.x) return Box(vec3(0.0), vec3(0.0));
    vec3 magnitude = root.low.x > root.high.x ? vec3(0.0) : max(abs(root.low), abs(root.high));
    float min_margin = max(max(max(magnitude.x, magnitude.y), magnitude.z), 1e-20) * 1e-9;
    box.low -= max(abs(box.low) * 1.1920929e-7, vec3(min_margin));
    box.high += max(abs(box.high) * 1.1920929e-7, vec3(min_margin));
    return box;
}
