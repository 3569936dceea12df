// As next_light.glsl, with what the medium takes on the way to the light.
#include "kernels/next_light.glsl"
#include "lib/media_behind.glsl"

int next_light_nested(
    in Pixel pixel, in Interaction interaction, in Path path, in Media media, inout Tree tree,
    inout Radiance radiance, out Ray ray, out Radiance pending
) {
    int way = next_light(pixel, interaction, path, tree, radiance, ray, pending);
    int medium = media_top(media_behind(media.inside, interaction, ray.direction));
    if (way == EXIT_SHADOW) pending.rgb *= medium_transmittance(medium, ray.t_max);
    return way;
}
