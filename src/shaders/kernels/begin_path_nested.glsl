// As begin_path.glsl, outside of all volumes.
#include "kernels/begin_path.glsl"

int begin_path_nested(in Pixel pixel, in Film film, out Path path, out Radiance radiance, out Ray ray, out Media media) {
    media = Media(0);
    return begin_path(pixel, film, path, radiance, ray);
}
