// As sample_light.glsl, with what the medium takes on the way to the light.
#include "kernels/sample_light.glsl"
#include "lib/media_behind.glsl"

int sample_light_nested(
    in Pixel pixel, in Interaction interaction, in Path path, in Media media, inout Ray ray, out Radiance pending
) {
    int way = sample_light(pixel, interaction, path, ray, pending);
    int medium = media_top(media_behind(media.inside, interaction, ray.direction));
    if (way == EXIT_SHADOW) pending.rgb *= medium_transmittance(medium, ray.t_max);
    return way;
}
