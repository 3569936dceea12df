// Tests one candidate triangle of an instance against the ray in its object's space.
#include "interface/accel.glsl"
#include "interface/top.glsl"
#include "interface/triangle.glsl"

int intersect_object(in Ray ray, in TriangleSetup setup, in TopTraversal top, inout Traversal traversal, inout Hit hit) {
    triangle_test(ray, setup, accel_candidate(traversal), top_instance(top), hit);
    bool is_decided = (ray.any_hit & 1) == 1 && hit.triangle >= 0;
    return is_decided ? EXIT_END : accel_more(traversal) ? EXIT_AGAIN : accel_ends(traversal, hit.t) ? EXIT_END : EXIT_TRAVERSE;
}
