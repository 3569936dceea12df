// The refracted child of a surface, which is to wait while the reflected one is followed. Level n of the waiting rays
// is the exit EXIT_LEVEL_00 + n: exits are numbered in the order of their names.
#include "interface/bsdf.glsl"
#include "interface/media.glsl"
#include "interface/whitted.glsl"
#include "lib/leaving_origin.glsl"

int branch_refraction(in Interaction interaction, in Path path, in Media media, inout Tree tree, out Branch waiting) {
    vec3 reflected, reflection, refracted, refraction;
    bsdf_branches(interaction, interaction.wo, reflected, reflection, refracted, refraction);
    waiting.direction = refracted;
    waiting.origin = leaving_origin(interaction, refracted);
    waiting.weight = path.throughput * refraction;
    waiting.depth = path.depth + 1;
    waiting.inside = media_number(media_behind(media, interaction, refracted));
    waiting.channel = tree.channel;
    if (whitted_refractions == 0 || all(lessThanEqual(waiting.weight, vec3(whitted_min_intensity)))) return EXIT_NONE;
    return EXIT_LEVEL_00 + tree.pending++;
}
