// glTF's material where channels part: interface/dispersion.glsl. The channel of an interaction: shading/principled_parted.glsl.

Interaction principled_at_channel(Interaction at, int channel) {
    set_interaction_channel(at, channel + 1);
    return at;
}

bool principled_branches_alone(Interaction at) {
    return LOBES_MAPPED == 0 && principled_delta(at);  // else a coat and its base may reflect into directions of their own
}

Interaction principled_at_branch(Interaction at, bool refracts) {
    set_interaction_channel(at, (interaction_channel(at) & 3) + (refracts ? 4 : 8));
    return at;
}
