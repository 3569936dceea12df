// The shadow ray of a surface towards a light's point, or a direction that a light has no end in.
#include "lib/offset_origin.glsl"
#include "lib/ray_tag.glsl"

// direction : unit length. distance : to the light's point, scene units.
Ray shadow_ray(Interaction interaction, vec3 direction, float distance, int sample_number) {
    vec3 origin = offset_origin(interaction.position, interaction.normal, direction, interaction.error);
    // Short of the light's own surface, whose rounding error is in proportion to the distance and to the position's.
#ifdef HAVE_SMOOTH
    interaction.error = abs(interaction.error);
#endif
    return Ray(origin, max(distance * 0.99999 - 4.0 * interaction.error, 0.0), direction, 1 + ray_tag(sample_number, false));
}
