// The walk through a bounding volume hierarchy without a stack, front to back: its state is one node's number. Each
// node knows, for each octant of directions, the node that follows when it is missed (its escape index); when it is
// hit, the child that is nearer along the axis that tells its children apart follows.
// Escape indices: N. Thrane and L. O. Simonsen, "A Comparison of Acceleration Structures for GPU Assisted Ray Tracing"
// (Aarhus 2005); an order for every direction: T. Hachisuka, "Implementing a Photorealistic Rendering System using
// GLSL" (2015), section 3 (multiple-threaded BVH).
// BvhNode.count is, for an inner node, minus 1, 2 or 4: the bit of the axis in an octant's number.
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
    ivec3 negative = ivec3(lessThan(ray.direction, vec3(0.0)));
    int octant = negative.x + 2 * negative.y + 4 * negative.z;
    int missed = fetch_bvh_links(octant * bvh_count + walk.node).missed;
    bool hit = inside.x <= inside.y, leaf = node.count > 0;
    int nearer = (octant & -node.count) != 0 ? node.first : walk.node + 1;
    walk.node = hit && !leaf ? nearer : missed;
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
