// Tests one candidate triangle against the ray. Purcell 2004, figure 3.2 (intersector).
#include "interface/accel.glsl"
#include "interface/triangle.glsl"

int intersect(in Ray ray, in TriangleSetup setup, inout Traversal traversal, inout Hit hit) {
    triangle_test(ray, setup, accel_candidate(traversal), 0, hit);
    bool is_decided = (ray.any_hit & 1) == 1 && hit.triangle >= 0;
    return is_decided ? EXIT_END : accel_more(traversal) ? EXIT_AGAIN : accel_ends(traversal, hit.t) ? EXIT_END : EXIT_TRAVERSE;
}
