// One step of a ray through the acceleration structure. Purcell 2004, figure 3.1 (traverser).
#include "interface/accel.glsl"

int traversal_step(in Ray ray, inout Traversal traversal, in Hit hit) {
    int outcome = accel_step(ray, hit.t, traversal);
    return outcome == ACCEL_AGAIN ? EXIT_AGAIN : outcome == ACCEL_TEST ? EXIT_TEST : EXIT_END;
}
