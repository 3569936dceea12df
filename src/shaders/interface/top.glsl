// What a structure over instances provides; Top is the record that it keeps per ray.
#include "interface/steps.glsl"

// Prepares the walk. False: there is nothing to walk.
bool top_start(Ray ray, out TopTraversal top);

// One step towards the next instance; nearest is the distance of the nearest hit so far. ACCEL_TEST: there is one.
int top_step(Ray ray, float nearest, inout TopTraversal top);

// The instance that was found. Only after ACCEL_TEST.
int top_instance(TopTraversal top);
