// Sets up the traversal of a ray. Purcell 2004, figure 3.1 (traverser, its set-up).
#include "interface/accel.glsl"
#include "interface/triangle.glsl"

int enter(in Ray ray, out Walk walk, out Shear shear, out Hit hit) {
    hit = Hit(ray.t_max, vec2(0.0), -1, 0);
    shear = triangle_shear(ray);
    return accel_enter(ray, 0, walk) ? EXIT_WALK : EXIT_MISS;
}
