// As gather_on.glsl, into or out of a volume where the ray crosses the surface.
#include "kernels/gather_on.glsl"
#include "lib/media_behind.glsl"

int gather_on_nested(
    in Pixel pixel, in Interaction spot, in Path path, inout Path gathering, out Ray ray, in Media media,
    inout Media around
) {
    int inside = gathering.number < 0 || gathering.depth < 0 ? media.inside : around.inside;
    int way = gather_on(pixel, spot, path, gathering, ray);
    around.inside = media_behind(inside, spot, ray.direction);
    return way;
}
