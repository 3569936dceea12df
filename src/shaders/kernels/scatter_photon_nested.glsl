// As scatter_photon.glsl, into or out of a volume where the photon crosses the surface.
#include "kernels/scatter_photon.glsl"
#include "lib/media_behind.glsl"

int scatter_photon_nested(in Pixel pixel, in Interaction interaction, inout Path path, inout Ray ray, inout Media media) {
    int way = scatter_photon(pixel, interaction, path, ray);
    media.inside = media_behind(media.inside, interaction, ray.direction);
    return way;
}
