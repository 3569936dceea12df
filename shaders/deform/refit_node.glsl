// A node of a refitted tree, for the stackless traversals.
#include "deform/widened.glsl"

uniform int count;  // nodes

BvhNode element(int number) {
    NodeRow row = fetch_node_rows(min(number, count - 1));
    Box box = widened(box_at(row.box), box_at(row.root));
    return BvhNode(box.low, box.high, row.first, row.count);
}
