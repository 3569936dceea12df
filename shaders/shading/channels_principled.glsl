// glTF's material where channels part: interface/dispersion.glsl. The channel of an interaction: materials/parameters.glsl.

Interaction principled_at_channel(Interaction at, int channel) {
    set_interaction_channel(at, channel + 1);
    return at;
}

bool principled_branches_alone(Interaction at) {
#ifdef HAVE_MAPS
    return false;  // a coat and its base may reflect into directions of their own
#else
    return principled_delta(at);
#endif
}

Interaction principled_at_branch(Interaction at, bool refracts) {
    set_interaction_channel(at, (interaction_channel(at) & 3) + (refracts ? 4 : 8));
    return at;
}
