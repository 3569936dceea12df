// Where the channels of light part, a path that carries several is reflected in all of them, or refracted in one: each
// in proportion to what it would carry, so that the sum of the throughput stays the same. A path that carries one has
// that channel's index. The lobe's number (kernels/scatter.glsl) decides here instead of there.
#include "interface/bsdf.glsl"
#include "interface/dispersion.glsl"
#include "interface/sampler.glsl"

int choose_channel(in Pixel pixel, inout Interaction interaction, inout Path path) {
    if (channels_part(interaction)) {
        vec3 carried = path.throughput;
        ivec3 some = ivec3(greaterThan(carried, vec3(0.0)));
        if (some.x + some.y + some.z == 1) {
            interaction = at_channel(interaction, some.y + 2 * some.z);
        } else {
            vec3 reflected, reflection, refracted, refraction;
            bsdf_branches(interaction, interaction.wo, reflected, reflection, refracted, refraction);
            vec3 through = carried - carried * reflection;
            float whole = carried.x + carried.y + carried.z, two = through.x + through.y;
            int dimension = surface_dimension(path.depth) + DIMENSION_LOBE;
            float at = whole * sample_2d(pixel.at, path.number, dimension).x;
            if (at < two + through.z) {
                int channel = at < through.x ? 0 : at < two ? 1 : 2;
                path.throughput = vec3(equal(ivec3(0, 1, 2), ivec3(channel))) * whole;
                interaction = at_channel(interaction, channel);
                interaction.reflectivity = 1.0;
            } else {
                vec3 back = carried * reflection;
                path.throughput = back * (whole / max(back.x + back.y + back.z, 1e-30));
                interaction.reflectivity = -1.0;
            }
        }
    }
    return EXIT_DONE;
}
