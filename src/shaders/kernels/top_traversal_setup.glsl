// Sets up the walk of a ray through the structure over instances.
#include "interface/top.glsl"

int top_traversal_setup(in Ray ray, out TopTraversal top, out Hit hit) {
    hit = Hit(ray.t_max, vec2(0.0), -1, 0);
    return top_start(ray, top) ? EXIT_TRAVERSE : EXIT_MISS;
}
