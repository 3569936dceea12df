// The start of a traversal at a ray's entry into the box of a grid over the whole scene, and that entry apart.
#include "interface/accel.glsl"
#include "interface/box_entry.glsl"

// 1 / direction in the units of the traversal; (entry, exit) of the ray in the grid's box; voxel coordinates at a distance.
vec3 grid_inverse(Ray ray);
vec2 grid_span(Ray ray, vec3 inverse);
vec3 grid_place(Ray ray, float t);

Traversal grid_traversal(Ray ray, vec3 inverse, float entry) {
    ivec3 voxel = clamp(ivec3(floor(grid_place(ray, entry))), ivec3(0), grid_resolution - 1);
    return Traversal(voxel, inverse, -1, 0.0);
}

// Begins in the voxel that the ray enters; false where it misses the grid.
bool accel_start(Ray ray, int object, out Traversal traversal) {
    vec3 inverse = grid_inverse(ray);
    vec2 span = grid_span(ray, inverse);
    traversal = grid_traversal(ray, inverse, span.x);
    return span.x <= span.y;
}

vec2 accel_enter(Ray ray) {
    return grid_span(ray, grid_inverse(ray));
}

void accel_start_inside(Ray ray, float entry, out Traversal traversal) {
    traversal = grid_traversal(ray, grid_inverse(ray), entry);
}
