// Stackless traversal of a bounding volume hierarchy in depth-first order: its state is one node's number, and every
// node has the number of the one after its subtree (escape index).
// N. Thrane and L. O. Simonsen, "A Comparison of Acceleration Structures for GPU Assisted Ray Tracing" (Aarhus 2005).
#include "accel/bvh_node.glsl"

int accel_step(Ray ray, float nearest, inout Traversal traversal) {
    BvhNode node = bvh_node_at(ray, traversal.node);
    int after_miss = fetch_bvh_links(traversal.node).missed;  // after an object's last leaf comes the next object's tree
    return bvh_advance(node, bvh_inside(node, ray, nearest), traversal.node + 1, after_miss, traversal);
}
