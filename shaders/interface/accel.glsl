// What an acceleration structure provides; Walk is the record that it keeps per ray.

const int ACCEL_AGAIN = 0;  // another step is needed
const int ACCEL_TEST = 1;   // there are candidates: take them from accel_candidate
const int ACCEL_END = 2;    // no nearer hit can come

// Prepares the walk. False: the ray misses the scene's box, and there is nothing to walk.
bool accel_enter(Ray ray, out Walk walk);

// One step (a voxel, a node) along the ray; nearest is the distance of the nearest hit so far.
int accel_step(Ray ray, float nearest, inout Walk walk);

// The next candidate triangle of where the walk is. Only after ACCEL_TEST, and while accel_more is true.
int accel_candidate(inout Walk walk);

// Whether there is another candidate.
bool accel_more(Walk walk);

// After the last candidate: whether no nearer hit can come.
bool accel_ends(Walk walk, float nearest);
