// As branch_refraction.glsl: what waits keeps the media that it is within.
#include "kernels/branch_refraction.glsl"
#include "lib/media_behind.glsl"

int branch_refraction_nested(
    in Interaction interaction, in Path path, in Media media, inout Tree tree, out Branch waiting
) {
    int way = branch_refraction(interaction, path, tree, waiting);
    waiting.inside = media_behind(media.inside, interaction, waiting.direction);
    return way;
}
