// Tests one candidate triangle against the ray. Purcell 2004, figure 3.1 (intersector).
#include "interface/accel.glsl"
#include "interface/triangle.glsl"

int intersect(in Ray ray, in Shear shear, inout Walk walk, inout Hit hit) {
    triangle_test(ray, shear, accel_candidate(walk), 0, hit);
    bool enough = ray.any_hit == 1 && hit.triangle >= 0;
    return enough ? EXIT_END : accel_more(walk) ? EXIT_AGAIN : accel_ends(walk, hit.t) ? EXIT_END : EXIT_WALK;
}
