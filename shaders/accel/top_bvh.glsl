// Traversal of a bounding volume hierarchy over instances, one per leaf; stackless, front to back by the octant of the
// ray's direction, as in bvh_octants.glsl, so that its state fits beside an object's traversal. top_end, the capacity
// of nodes, means no further node. With count 0 in inner nodes, and the same links for all octants, the traversal is
// depth first by escape indices, as in bvh_escape.glsl.
#include "interface/top.glsl"
#include "lib/direction.glsl"
#include "lib/box.glsl"

bool top_start(Ray ray, out TopTraversal top) {
    top = TopTraversal(top_root, -1);
    return top_root < top_end;
}

// Tests the ray against the node's box; a leaf that is met gives its instance.
int top_step(Ray ray, float nearest, inout TopTraversal top) {
    if (top.node >= top_end) return ACCEL_END;
    TopNode node = fetch_top_nodes(top.node);
    vec2 span = box_interval(node.low, node.high, ray.origin, 1.0 / nonzero(ray.direction), nearest);
    ivec3 negative = ivec3(lessThan(ray.direction, vec3(0.0)));
    int octant = negative.x + 2 * negative.y + 4 * negative.z;
    ivec4 links_z = negative.z == 0 ? node.missed_up : node.missed_down;
    ivec2 links_yz = negative.y == 0 ? links_z.xy : links_z.zw;
    int after_miss = negative.x == 0 ? links_yz.x : links_yz.y;
    bool is_hit = span.x <= span.y, is_leaf = node.count > 0;
    int nearer = (octant & -node.count) != 0 ? node.first : top.node + 1;
    top.node = is_hit && !is_leaf ? nearer : after_miss;
    top.instance = node.first;
    return is_hit && is_leaf ? ACCEL_TEST : top.node >= top_end ? ACCEL_END : ACCEL_AGAIN;
}
