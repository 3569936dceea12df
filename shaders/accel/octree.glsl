// Stackless front-to-back traversal of an octree: its state is one node's number. Each node has, per octant of
// directions, the child that comes first after a hit, and the next node after a miss (viewer/accel/octree.py).
// Octants: T. Hachisuka, "Implementing a Photorealistic Rendering System using GLSL" (2015), section 3, for trees of two
// children.
#include "interface/accel.glsl"
#include "lib/direction.glsl"
#include "lib/box.glsl"

bool accel_start(Ray ray, int object, out Traversal traversal) {
    traversal = Traversal(0, 0, 0);
    return octree_count > 0;
}

bool accel_ends(Traversal traversal, float nearest) {
    return traversal.node >= octree_count;
}

// Tests the ray against the node's box, and goes on to its first child or to the node after it.
int accel_step(Ray ray, float nearest, inout Traversal traversal) {
    OctreeNode node = fetch_octree_nodes(traversal.node);
    ivec3 negative = ivec3(lessThan(ray.direction, vec3(0.0)));
    OctreeLink link = fetch_octree_links((negative.x + 2 * negative.y + 4 * negative.z) * octree_count + traversal.node);
    vec2 span = box_interval(node.low, node.high, ray.origin, 1.0 / nonzero(ray.direction), nearest);
    bool is_inside = span.x <= span.y;
    traversal.node = is_inside ? link.entered : link.missed;
    traversal.candidate = node.first;
    traversal.stop = node.first + node.count;
    return is_inside && node.count > 0 ? ACCEL_TEST : accel_ends(traversal, nearest) ? ACCEL_END : ACCEL_AGAIN;
}

int accel_candidate(inout Traversal traversal) {
    return fetch_octree_lists(traversal.candidate++).entry;
}

bool accel_more(Traversal traversal) {
    return traversal.candidate < traversal.stop;
}
