// What a structure with one box over the scene provides, so that the kernel of eye rays can test it: Purcell 2004,
// section 3.3.1.

// Distances at which a ray enters the box and leaves it; a miss enters behind its exit.
vec2 accel_enter(Ray ray);

// Prepares the traversal of a ray from its entry on.
void accel_start_inside(Ray ray, float entry, out Traversal traversal);
