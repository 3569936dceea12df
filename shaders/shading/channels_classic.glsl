// Classic glass at which channels part: interface/dispersion.glsl.

bool classic_parts(Interaction at) {
    return at.specular > 0.0;
}

Interaction classic_at_channel(Interaction at, int channel) {
    vec3 indices = classic_own(interaction_material(at)).indices;
    at.parameter = channel == 0 ? indices.x : channel == 1 ? indices.y : indices.z;
    at.specular = 0.0;
    return at;
}

bool classic_branches_alone(Interaction at) {
    return true;
}

Interaction classic_at_branch(Interaction at, bool refracts) {
    at.reflectivity = refracts ? 1.0 : -1.0;
    return at;
}
