// Smooth glass at which channels part, of whatever kind: interface/dispersion.glsl.

bool smooth_parts(Interaction at) {
    return at.specular > 0.0;
}

// As one channel meets it, of that index of refraction.
Interaction smooth_channel(Interaction at, float index) {
    at.parameter = index;
    at.specular = 0.0;
    return at;
}

bool smooth_branches_alone(Interaction at) {
    return true;
}

Interaction smooth_at_branch(Interaction at, bool refracts) {
    at.reflectivity = refracts ? 1.0 : -1.0;
    return at;
}
