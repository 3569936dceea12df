// Traversal of a bounding volume hierarchy over instances, as in top_bvh.glsl, whose boxes are those of the ray's time:
// linear between two keys (L. Gruenschloss et al., "MSBVH: An Efficient Acceleration Data Structure for Ray Traced Motion
// Blur", 2011). A node has a row for each octant of directions, and one box if it stands still, else one for each of
// top_spans segments between keys. top_end, the capacity of nodes, means no further node.
#include "interface/top.glsl"
#include "lib/direction.glsl"
#include "lib/box.glsl"
#include "lib/moment.glsl"

bool top_start(Ray ray, out TopTraversal top) {
    top = TopTraversal(top_root, -1);
    return top_root < top_end;
}

// Tests the ray against the node's box at its time; a leaf that is met gives its instance.
int top_step(Ray ray, float nearest, inout TopTraversal top) {
    if (top.node >= top_end) return ACCEL_END;
    ivec3 negative = ivec3(lessThan(ray.direction, vec3(0.0)));
    TopNode node = fetch_top_nodes(8 * top.node + negative.x + 2 * negative.y + 4 * negative.z);
    float fraction;
    int key = key_before(moment_of(ray), top_spans, fraction);
    TopSegment box = fetch_top_segments(node.keys < 0 ? -1 - node.keys : node.keys + key);
    vec3 low = box.low + fraction * box.low_change, high = box.high + fraction * box.high_change;
    vec2 span = box_interval(low, high, ray.origin, 1.0 / nonzero(ray.direction), nearest);
    bool is_hit = span.x <= span.y;
    top.node = is_hit ? node.nearer : node.missed;
    top.instance = node.instance;
    return is_hit && node.instance >= 0 ? ACCEL_TEST : top.node >= top_end ? ACCEL_END : ACCEL_AGAIN;
}
