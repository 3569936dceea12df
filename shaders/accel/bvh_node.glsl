// Shared by the stackless traversals of a bounding volume hierarchy, whose state is one node's number.
#include "interface/accel.glsl"
#include "lib/direction.glsl"
#include "lib/box.glsl"
#ifdef HAVE_MOVING_BOXES
#include "lib/moving_box.glsl"

// A node with its box at the time of a ray.
BvhNode bvh_node_at(Ray ray, int number) {
    int next_number;
    float fraction;
    BvhNode node = fetch_bvh_nodes(box_before(moment_of(ray), number, bvh_keys, next_number, fraction)), next = fetch_bvh_nodes(next_number);
    node.low += fraction * (next.low - node.low);
    node.high += fraction * (next.high - node.high);
    return node;
}
#else
BvhNode bvh_node_at(Ray ray, int number) {
    return fetch_bvh_nodes(number);
}
#endif

bool accel_start(Ray ray, int object, out Traversal traversal) {
    traversal = Traversal(bvh_root(object).root, 0, 0);
    return true;
}

bool accel_ends(Traversal traversal, float nearest) {
    return traversal.node >= bvh_count;
}

// Whether a ray meets a node's box before the nearest hit.
bool bvh_inside(BvhNode node, Ray ray, float nearest) {
    vec2 span = box_interval(node.low, node.high, ray.origin, 1.0 / nonzero(ray.direction), nearest);
    return span.x <= span.y;
}

// The next node after a hit or a miss of a node's box: the first child, or the escape index.
int bvh_advance(BvhNode node, bool hit, int child, int after_miss, inout Traversal traversal) {
    bool is_leaf = node.count > 0;
    traversal.node = hit && !is_leaf ? child : after_miss;
    traversal.candidate = node.first;
    traversal.stop = node.first + node.count;
    return hit && is_leaf ? ACCEL_TEST : traversal.node >= bvh_count ? ACCEL_END : ACCEL_AGAIN;
}

int accel_candidate(inout Traversal traversal) {
    return traversal.candidate++;
}

bool accel_more(Traversal traversal) {
    return traversal.candidate < traversal.stop;
}
