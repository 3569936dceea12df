// The shadow ray of a surface towards a point on a light, or towards a direction at infinity, at the time of its path.
#include "lib/lifted.glsl"
#include "lib/offset_origin.glsl"
#include "lib/path_moment.glsl"
#include "lib/ray_tag.glsl"

// direction : unit length. distance : to the light's point, scene units.
Ray shadow_ray(Interaction interaction, vec3 direction, float distance, int sample_number) {
    vec3 origin = offset_origin(interaction.position, interaction.normal, direction, interaction.error);
    // Short of the light's own surface, whose rounding error is proportional to the distance and to the position's
    // error.
    int tag = 1 + ray_tag(sample_number, false) + time_tag();
    return Ray(origin, max(distance * 0.99999 - 4.0 * error_size(interaction.error), 0.0), direction, tag);
}
