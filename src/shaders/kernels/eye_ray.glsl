// Generates the ray of a pixel. Purcell 2004, figure 3.1 (ray generator).
#include "interface/camera.glsl"
#include "lib/far.glsl"
#ifdef HAVE_CULLED
#include "lib/view_ray.glsl"
#endif

int eye_ray(in Pixel pixel, out Ray ray) {
    camera_ray(pixel.at, ray.origin, ray.direction);
    ray.t_max = FAR;
    ray.any_hit = 0;
#ifdef HAVE_CULLED
    ray.any_hit += RAY_VIEW;
#endif
    return EXIT_RAY;
}
