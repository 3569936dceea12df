// Begins a pixel's next camera ray, the same that begin_path begins with its number; ends its work at the samples of the
// film.
#include "interface/cone.glsl"
#include "interface/media.glsl"
#include "interface/path.glsl"
#include "lib/first_ray.glsl"

int begin_visibility(
    in Pixel pixel, in Film film, in Visibility visibility, out Path path, out Media media, out Radiance radiance,
    out Ray ray
) {
    int number = int(visibility.count);
    ray = first_ray(pixel.at, number);
    path = Path(vec3(1.0), 0.0, 0, number, cone_of_pixel(pixel.at, number, ray.direction));
    media = media_of(0);
    radiance.rgb = vec3(0.0);
    return number < int(film.count) ? EXIT_RAY : EXIT_DONE;
}
