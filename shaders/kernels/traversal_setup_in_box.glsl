// Sets up the traversal of a ray whose entry into the scene's box is known. Purcell 2004, figure 3.1 (traverser, its
// set-up).
#include "interface/box_entry.glsl"
#include "interface/triangle.glsl"

int traversal_setup_in_box(in Ray ray, in BoxEntry entry, out Traversal traversal, out TriangleSetup setup) {
    setup = triangle_setup(ray);
    accel_start_inside(ray, entry.t, traversal);
    return EXIT_TRAVERSE;
}
