// Begins the next sample of a pixel, or ends its work where it has all.
#include "interface/cone.glsl"
#include "interface/media.glsl"
#include "interface/path.glsl"
#include "lib/first_ray.glsl"

int begin_path(in Pixel pixel, in Film film, out Path path, out Media media, out Radiance radiance, out Ray ray) {
    int number = int(film.count);
    ray = first_ray(pixel.at, number);
    path = Path(vec3(sees_nothing(ray) ? 0.0 : 1.0), 0.0, 0, number, cone_of_pixel(pixel.at, number, ray.direction));
    media = media_of(0);
    radiance.rgb = vec3(0.0);
    return number < path_samples ? EXIT_RAY : EXIT_DONE;
}
