// Begins the next sample of a pixel, or ends its work where it has all. Dimensions 0 and 1 choose the point on the film,
// 2 and 3 the one on the lens.
#include "interface/camera.glsl"
#include "interface/path.glsl"
#include "interface/sampler.glsl"

int begin_path(in Pixel pixel, in Film film, out Path path, out Radiance radiance, out Ray ray) {
    int number = int(film.count);
    camera_sample(
        pixel.at, sample_2d(pixel.at, number, 0), sample_2d(pixel.at, number, 2), ray.origin, ray.direction);
    ray.t_max = 3.4e38;
    ray.any_hit = 0;
    path = Path(vec3(1.0), 0.0, vec3(0.0), 0, number);
    radiance.rgb = vec3(0.0);
    return number < path_samples ? EXIT_RAY : EXIT_DONE;
}
