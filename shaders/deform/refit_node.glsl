// A node of a refitted tree, for the stackless traversals.
#include "deform/widened.glsl"

uniform int count;  // nodes

BvhNode element(int number) {
    number = min(number, count - 1);
    NodeRow row = fetch_node_rows(number);
    Box box = widened(fetch_boxes(number), fetch_boxes(row.root));
    return BvhNode(box.low, box.high, row.first, row.count);
}
