// Two children of a node of a refitted tree, for the traversal with a stack.
#include "deform/widened.glsl"

uniform int count;  // pairs

// The row of a pair, by its number: both boxes side by side, axis by axis.
BvhPair element(int number) {
    PairRow row = fetch_pair_rows(min(number, count - 1));
    Box root = fetch_inner(row.root);  // a tree of one leaf has no pair
    Box first = widened(box_at(row.boxes.x), root), second = widened(box_at(row.boxes.y), root);
    return BvhPair(
        vec4(first.low.x, second.low.x, first.high.x, second.high.x),
        vec4(first.low.y, second.low.y, first.high.y, second.high.y),
        vec4(first.low.z, second.low.z, first.high.z, second.high.z),
        row.child,
        row.count
    );
}
