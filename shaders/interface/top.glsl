// What a structure over instances provides; Top is the record that it keeps per ray.
#include "interface/steps.glsl"

// Prepares the walk. False: there is nothing to walk.
bool top_enter(Ray ray, out Top top);

// One step towards the next instance; nearest is the distance of the nearest hit so far. ACCEL_TEST: there is one.
int top_step(Ray ray, float nearest, inout Top top);

// The instance that was found. Only after ACCEL_TEST.
int top_instance(Top top);
