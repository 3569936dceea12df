// Two children of a node of a refitted tree, for the traversal with a stack.
#include "deform/widened.glsl"

uniform int count;  // pairs

BvhPair element(int number) {
    PairRow row = fetch_pair_rows(min(number, count - 1));
    Box root = fetch_inner(row.root);  // a tree of one leaf has no pair
    Box one = widened(box_at(row.boxes.x), root), other = widened(box_at(row.boxes.y), root);
    return BvhPair(
        vec4(one.low.x, other.low.x, one.high.x, other.high.x),
        vec4(one.low.y, other.low.y, one.high.y, other.high.y),
        vec4(one.low.z, other.low.z, one.high.z, other.high.z),
        row.child,
        row.count
    );
}
