// Stackless front-to-back traversal of a bounding volume hierarchy: its state is one node's number. Each node has, per
// octant of directions, the next node after a miss (its escape index); after a hit comes the nearer child along the
// node's split axis.
// Escape indices: N. Thrane and L. O. Simonsen, "A Comparison of Acceleration Structures for GPU Assisted Ray Tracing"
// (Aarhus 2005); an order for every direction: T. Hachisuka, "Implementing a Photorealistic Rendering System using
// GLSL" (2015), section 3 (multiple-threaded BVH).
// BvhNode.count is, for an inner node, minus 1, 2 or 4: the bit of the axis in an octant's number.
#include "accel/bvh_node.glsl"

int accel_step(Ray ray, float nearest, inout Traversal traversal) {
    BvhNode node = bvh_node_at(ray, traversal.node);
    ivec3 negative = ivec3(lessThan(ray.direction, vec3(0.0)));
    int octant = negative.x + 2 * negative.y + 4 * negative.z;
    int after_miss = fetch_bvh_links(octant * bvh_count + traversal.node).missed;
    int near_child = (octant & -node.count) != 0 ? node.first : traversal.node + 1;
    return bvh_advance(node, bvh_inside(node, ray, nearest), near_child, after_miss, traversal);
}
