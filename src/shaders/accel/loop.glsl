// No structure: all candidates in turn. T. J. Purcell et al., "Photon Mapping on Programmable Graphics Hardware" (2003),
// section 2.4.
#include "interface/accel.glsl"

bool accel_start(Ray ray, int object, out Traversal traversal) {
    traversal = Traversal(0);
    return loop_count > 0;
}

bool accel_ends(Traversal traversal, float nearest) {
    return traversal.candidate >= loop_count;
}

int accel_step(Ray ray, float nearest, inout Traversal traversal) {
    return accel_ends(traversal, nearest) ? ACCEL_END : ACCEL_TEST;
}

int accel_candidate(inout Traversal traversal) {
    return traversal.candidate++;
}

bool accel_more(Traversal traversal) {
    return traversal.candidate < loop_count;
}
