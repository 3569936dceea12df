// Tests one candidate triangle of an instance against the ray in its object's space.
#include "interface/accel.glsl"
#include "interface/top.glsl"
#include "interface/triangle.glsl"

int intersect_object(in Ray ray, in Shear shear, in Top top, inout Walk walk, inout Hit hit) {
    triangle_test(ray, shear, accel_candidate(walk), top_instance(top), hit);
    bool enough = ray.any_hit == 1 && hit.triangle >= 0;
    return enough ? EXIT_END : accel_more(walk) ? EXIT_AGAIN : accel_ends(walk, hit.t) ? EXIT_END : EXIT_WALK;
}
