// Which medium is on the front of a surface, or about what bounds none: the BSDF's indices are relative to it.
#include "interface/interaction.glsl"
#include "interface/media.glsl"

int surround(in Media media, inout Interaction interaction) {
    bool front = dot(interaction.normal, interaction.wo) > 0.0;
    int medium = fetch_principled(interaction_material(interaction)).medium;
    int inside = front || medium == 0 ? media.inside : media_without(media.inside, medium);
    set_interaction_outside(interaction, media_top(inside));
    return EXIT_DONE;
}
