// What an acceleration structure provides; Walk is the record that it keeps per ray. After ACCEL_TEST, candidates are
// to be had from accel_candidate.
#include "interface/steps.glsl"

// Prepares the walk through a numbered object (0 where there is only one). False: the ray misses its box, and there is
// nothing to walk.
bool accel_start(Ray ray, int object, out Traversal traversal);

// One step (a voxel, a node) along the ray; nearest is the distance of the nearest hit so far.
int accel_step(Ray ray, float nearest, inout Traversal traversal);

// The address of the next candidate triangle where the traversal is. Only after ACCEL_TEST, and while accel_more is true.
int accel_candidate(inout Traversal traversal);

// Whether there is another candidate.
bool accel_more(Traversal traversal);

// After the last candidate: whether no nearer hit can come.
bool accel_ends(Traversal traversal, float nearest);
