// As gather_ray.glsl, into or out of a volume where the ray crosses the surface.
#include "kernels/gather_ray.glsl"
#include "lib/media_behind.glsl"

int gather_ray_nested(
    in Pixel pixel, in Interaction interaction, in Path path, in Media media, inout Path gathering, out Ray ray,
    out Media around
) {
    int way = gather_ray(pixel, interaction, path, gathering, ray);
    around = Media(media_behind(media.inside, interaction, ray.direction));
    return way;
}
