// Under dispersion, a path of several channels is reflected in all, or refracted in one: each in proportion to its
// throughput, so that the sum of the throughput is preserved. A single-channel path has that channel's index. u in [0,
// 1): the lobe's number, where that decides here instead of where the direction is chosen.
#include "interface/bsdf.glsl"
#include "interface/dispersion.glsl"

void follow_channel(inout Interaction interaction, inout vec3 throughput, float u) {
    vec3 carried = throughput;
    ivec3 some = ivec3(greaterThan(carried, vec3(0.0)));
    if (some.x + some.y + some.z == 1) {
        interaction = at_channel(interaction, some.y + 2 * some.z);
    } else {
        vec3 reflected, reflection, refracted, refraction;
        bsdf_branches(interaction, interaction.wo, reflected, reflection, refracted, refraction);
        // Elsewhere channels separate before the lobe is chosen.
        bool branch = channels_branch(interaction);
        vec3 through = branch ? carried - carried * reflection : carried;
        float whole = carried.x + carried.y + carried.z, two = through.x + through.y;
        float at = whole * u;
        if (at < two + through.z || !branch) {
            int channel = at < through.x ? 0 : at < two ? 1 : 2;
            throughput = vec3(equal(ivec3(0, 1, 2), ivec3(channel))) * whole;
            interaction = at_channel(interaction, channel);
            if (branch) interaction = at_branch(interaction, true);
        } else {
            vec3 back = carried * reflection;
            throughput = back * (whole / max(back.x + back.y + back.z, 1e-30));
            interaction = at_branch(interaction, false);
        }
    }
}
