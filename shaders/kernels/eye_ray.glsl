// Generates the ray of a pixel, and leaves out those that miss the scene's box.
// Purcell 2004, figure 3.1 (ray generator).
#include "interface/camera.glsl"
#include "interface/accel.glsl"

int eye_ray(in Pixel pixel, out Ray ray, out Hit hit) {
    camera_ray(pixel.at, ray.origin, ray.direction);
    ray.t_max = 3.4e38;
    ray.any_hit = 0;
    hit = Hit(ray.t_max, vec2(0.0), -1);
    Walk walk;
    return accel_enter(ray, walk) ? EXIT_RAY : EXIT_MISS;
}
