// Begins a pixel's next path, the same that begin_path begins with its number; ends its work at the samples of the film.
#include "interface/cone.glsl"
#include "interface/media.glsl"
#include "interface/path.glsl"
#include "lib/first_ray.glsl"

int begin_light_layers(
    in Pixel pixel, in Film film, in LightSums sums, out Path path, out Media media, out Radiance portion, out Ray ray
) {
    int number = int(sums.count);
    ray = first_ray(pixel.at, number);
    path = Path(vec3(sees_nothing(ray) ? 0.0 : 1.0), 0.0, 0, number, cone_of_pixel(pixel.at, number, ray.direction));
    media = media_of(0);
    portion.rgb = vec3(0.0);
    return number < int(film.count) ? EXIT_RAY : EXIT_DONE;
}
