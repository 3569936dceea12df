// Sets up the walk of a ray through the structure over instances.
#include "interface/top.glsl"

int enter_top(in Ray ray, out Top top, out Hit hit) {
    hit = Hit(ray.t_max, vec2(0.0), -1, 0);
    return top_enter(ray, top) ? EXIT_VISIT : EXIT_MISS;
}
