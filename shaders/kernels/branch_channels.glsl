// The refracted children of a surface where channels may part, one after the other: a ray of all channels has one for
// each there, which carries that channel alone; any other ray has one. They wait as in branch_refraction.glsl.
#include "interface/bsdf.glsl"
#include "interface/dispersion.glsl"
#include "interface/media.glsl"
#include "interface/whitted.glsl"
#include "lib/leaving_origin.glsl"

int branch_channels(in Interaction interaction, in Path path, in Media media, inout Tree tree, out Branch waiting) {
    int child = tree.light++;
    bool separates = channels_part(interaction);
    waiting.channel = separates && tree.channel < 0 ? child : tree.channel;
    Interaction surface = interaction;
    if (separates) surface = at_channel(surface, waiting.channel);
    vec3 reflected, reflection, refracted, refraction;
    bsdf_branches(surface, surface.wo, reflected, reflection, refracted, refraction);
    waiting.direction = refracted;
    waiting.origin = leaving_origin(surface, refracted);
    waiting.weight = path.throughput * refraction;
    if (separates) waiting.weight *= vec3(equal(ivec3(0, 1, 2), ivec3(waiting.channel)));
    waiting.depth = path.depth + 1;
    waiting.inside = media_number(media_behind(media, interaction, refracted));
    if (child >= (separates && tree.channel < 0 ? 3 : 1) || whitted_refractions == 0) {
        tree.light = 0;
        return EXIT_NONE;
    }
    if (all(lessThanEqual(waiting.weight, vec3(whitted_min_intensity)))) return EXIT_AGAIN;
    return EXIT_LEVEL_00 + tree.pending++;
}
