// Generates the ray of a pixel. Purcell 2004, figure 3.1 (ray generator).
#include "interface/camera.glsl"
#include "lib/far.glsl"
#include "lib/ray_tag.glsl"
#include "lib/blind_ray.glsl"

int eye_ray(in Pixel pixel, out Ray ray) {
    camera_ray(pixel.at, ray.origin, ray.direction);
    ray.t_max = FAR;
    ray.any_hit = ray_tag(0, true);
    see_nothing(ray);
    return EXIT_RAY;
}
