// What the walks through a bounding volume hierarchy have in common whose state is one node's number.
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

bool bvh_inside(BvhNode node, Ray ray, float nearest) {
    vec2 inside = box_interval(node.low, node.high, ray.origin, 1.0 / nonzero(ray.direction), nearest);
    return inside.x <= inside.y;
}

// From a node whose box is hit or not to the next: the child to visit first, or the one to visit when it is missed.
int bvh_advance(BvhNode node, bool hit, int child, int missed, inout Walk walk) {
    bool leaf = node.count > 0;
    walk.node = hit && !leaf ? child : missed;
    walk.candidate = node.first;
    walk.stop = node.first + node.count;
    return hit && leaf ? ACCEL_TEST : walk.node >= bvh_count ? ACCEL_END : ACCEL_AGAIN;
}

int accel_candidate(inout Walk walk) {
    return walk.candidate++;
}

bool accel_more(Walk walk) {
    return walk.candidate < walk.stop;
}
