// A smooth dielectric at which channels part: interface/dispersion.glsl.
#include "shading/channel_index.glsl"

bool dielectric_parts(Interaction at) {
    return at.specular > 0.0;
}

Interaction dielectric_at_channel(Interaction at, int channel) {
    at.parameter = channel_index(at, channel);
    at.specular = 0.0;
    return at;
}

bool dielectric_branches_alone(Interaction at) {
    return true;
}

Interaction dielectric_at_branch(Interaction at, bool refracts) {
    at.reflectivity = refracts ? 1.0 : -1.0;
    return at;
}
