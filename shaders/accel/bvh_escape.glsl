// The walk through a bounding volume hierarchy in depth-first order, without a stack: its state is one node's number,
// and every node knows the one behind its subtree (escape index).
// N. Thrane and L. O. Simonsen, "A Comparison of Acceleration Structures for GPU Assisted Ray Tracing" (Aarhus 2005).
#include "interface/accel.glsl"
#include "lib/direction.glsl"
#include "lib/box.glsl"

bool accel_enter(Ray ray, int object, out Walk walk) {
    walk = Walk(bvh_root(object).root, 0, 0);
    return true;
}

bool accel_ends(Walk walk, float nearest) {
    return walk.node >= bvh_count;
}

int accel_step(Ray ray, float nearest, inout Walk walk) {
    BvhNode node = fetch_bvh_nodes(walk.node);
    vec2 inside = box_interval(node.low, node.high, ray.origin, 1.0 / nonzero(ray.direction), nearest);
    bool hit = inside.x <= inside.y;
    bool leaf = node.count > 0;
    walk.candidate = node.first;
    walk.stop = node.first + node.count;
    // behind the last leaf of an object the next one's tree begins
    walk.node = hit && !leaf ? walk.node + 1 : fetch_bvh_links(walk.node).missed;
    return hit && leaf ? ACCEL_TEST : walk.node >= bvh_count ? ACCEL_END : ACCEL_AGAIN;
}

int accel_candidate(inout Walk walk) {
    return walk.candidate++;
}

bool accel_more(Walk walk) {
    return walk.candidate < walk.stop;
}
