// Sets up the traversal of a ray. Purcell 2004, figure 3.1 (traverser, its set-up).
#include "interface/accel.glsl"
#include "interface/triangle.glsl"

int traversal_setup(in Ray ray, out Traversal traversal, out TriangleSetup setup, out Hit hit) {
    hit = Hit(ray.t_max, vec2(0.0), -1, 0);
    setup = triangle_setup(ray);
    return accel_start(ray, 0, traversal) ? EXIT_TRAVERSE : EXIT_MISS;
}
