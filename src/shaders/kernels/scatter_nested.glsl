// As scatter.glsl, into or out of a volume where the path crosses the surface.
#include "kernels/scatter.glsl"
#include "lib/media_behind.glsl"

int scatter_nested(in Pixel pixel, in Interaction interaction, inout Path path, out Ray ray, inout Media media) {
    int way = scatter(pixel, interaction, path, ray);
    media.inside = media_behind(media.inside, interaction, ray.direction);
    return way;
}
