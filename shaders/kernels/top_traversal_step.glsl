// One step of a ray through the structure over instances.
#include "interface/top.glsl"

int top_traversal_step(in Ray ray, inout TopTraversal top, in Hit hit) {
    if ((ray.any_hit & 1) == 1 && hit.triangle >= 0) return EXIT_END;
    int outcome = top_step(ray, hit.t, top);
    return outcome == ACCEL_AGAIN ? EXIT_AGAIN : outcome == ACCEL_TEST ? EXIT_OBJECT : EXIT_END;
}
