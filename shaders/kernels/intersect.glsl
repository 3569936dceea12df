// Tests one candidate triangle against the ray. Purcell 2004, figure 3.1 (intersector).
#include "interface/accel.glsl"
#include "interface/triangle.glsl"

int intersect(in Ray ray, in Shear shear, inout Walk walk, inout Hit hit) {
    int number = accel_candidate(walk);
    triangle_test(ray, shear, number, hit);
    if (ray.any_hit == 1 && hit.triangle >= 0) return EXIT_END;
    if (accel_more(walk)) return EXIT_AGAIN;
    return accel_ends(walk, hit.t) ? EXIT_END : EXIT_WALK;
}
