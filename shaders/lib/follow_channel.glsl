// Under dispersion, a path of several channels is reflected in all, or refracted in one: each in proportion to its
// throughput, so that the sum of the throughput is preserved. A single-channel path has that channel's index. u in [0,
// 1): the lobe's number, where that decides here instead of where the direction is chosen.
#include "interface/bsdf.glsl"
#include "interface/dispersion.glsl"

void follow_channel(inout Interaction interaction, inout vec3 throughput, float u) {
    vec3 carried = throughput;
    ivec3 is_carried = ivec3(greaterThan(carried, vec3(0.0)));
    if (is_carried.x + is_carried.y + is_carried.z == 1) {
        interaction = at_channel(interaction, is_carried.y + 2 * is_carried.z);
    } else {
        vec3 reflected, reflection, refracted, refraction;
        bsdf_branches(interaction, interaction.wo, reflected, reflection, refracted, refraction);
        // Elsewhere channels separate before the lobe is chosen.
        bool may_reflect = channels_branch(interaction);
        vec3 refracted_part = may_reflect ? carried - carried * reflection : carried;
        float carried_sum = carried.x + carried.y + carried.z, red_and_green = refracted_part.x + refracted_part.y;
        float threshold = carried_sum * u;
        if (threshold < red_and_green + refracted_part.z || !may_reflect) {
            int channel = threshold < refracted_part.x ? 0 : threshold < red_and_green ? 1 : 2;
            throughput = vec3(equal(ivec3(0, 1, 2), ivec3(channel))) * carried_sum;
            interaction = at_channel(interaction, channel);
            if (may_reflect) interaction = at_branch(interaction, true);
        } else {
            vec3 reflected_part = carried * reflection;
            throughput = reflected_part * (carried_sum / max(reflected_part.x + reflected_part.y + reflected_part.z, 1e-30));
            interaction = at_branch(interaction, false);
        }
    }
}
