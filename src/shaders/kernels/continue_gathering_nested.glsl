// As continue_gathering.glsl, into or out of a volume where the ray crosses the surface.
#include "kernels/continue_gathering.glsl"
#include "lib/media_behind.glsl"

int continue_gathering_nested(
    in Pixel pixel, in Interaction spot, in Path path, inout Path gathering, out Ray ray, inout Media around
) {
    int way = continue_gathering(pixel, spot, path, gathering, ray);
    around.inside = media_behind(around.inside, spot, ray.direction);
    return way;
}
