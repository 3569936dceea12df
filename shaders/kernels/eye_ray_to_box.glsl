// Generates the ray of a pixel, and tests it against the scene's box: what misses it is done. Purcell 2004, section
// 3.3.1; Purcell et al. 2002, section 3.1.1.
#include "interface/camera.glsl"
#include "interface/box_entry.glsl"
#include "lib/far.glsl"
#include "lib/ray_tag.glsl"
#include "lib/blind_ray.glsl"

int eye_ray_to_box(in Pixel pixel, out Ray ray, out BoxEntry entry, out Hit hit) {
    camera_ray(pixel.at, ray.origin, ray.direction);
    ray.t_max = FAR;
    ray.any_hit = ray_tag(0, true);
    see_nothing(ray);
    hit = Hit(ray.t_max, vec2(0.0), -1, 0);
    vec2 span = accel_enter(ray);
    entry.t = span.x;
    return span.x <= span.y ? EXIT_RAY : EXIT_MISS;
}
