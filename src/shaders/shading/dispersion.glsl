// Where the channels of light part; see shading/bsdf_dispersive.glsl and materials/parameters.glsl.
#include "interface/dispersion.glsl"
#ifdef HAVE_PARAMETERS
#include "shading/channel_index.glsl"
#endif

bool channels_part(Interaction at) {
    bool part = false;
#ifdef HAVE_PARAMETERS
    part = interaction_kind(at) == BSDF_DIELECTRIC && at.specular > 0.0;
#endif
#ifdef HAVE_CLASSIC
    if (interaction_kind(at) == BSDF_CLASSIC) part = at.specular > 0.0;
#endif
#ifdef HAVE_DISPERSION
    if (interaction_kind(at) == BSDF_PRINCIPLED) part = principled_parts(at);
#endif
    return part;
}

Interaction at_channel(Interaction at, int channel) {
#ifdef HAVE_DISPERSION
    if (interaction_kind(at) == BSDF_PRINCIPLED) {
        set_interaction_channel(at, channel + 1);
        return at;
    }
#endif
#ifdef HAVE_CLASSIC
    if (interaction_kind(at) == BSDF_CLASSIC) {
        vec3 indices = classic_own(interaction_material(at)).indices;
        at.parameter = channel == 0 ? indices.x : channel == 1 ? indices.y : indices.z;
        at.specular = 0.0;
        return at;
    }
#endif
#ifdef HAVE_PARAMETERS
    at.parameter = channel_index(at, channel);
    at.specular = 0.0;
#endif
    return at;
}

bool channels_branch(Interaction at) {
    bool branch = true;
#ifdef HAVE_DISPERSION
    if (interaction_kind(at) == BSDF_PRINCIPLED) branch = bsdf_delta(at);
#ifdef HAVE_MAPS
    // A coat and its base may reflect into directions of their own.
    branch = branch && interaction_kind(at) != BSDF_PRINCIPLED;
#endif
#endif
    return branch;
}

Interaction at_branch(Interaction at, bool refracts) {
#ifdef HAVE_DISPERSION
    if (interaction_kind(at) == BSDF_PRINCIPLED) {
        set_interaction_channel(at, (interaction_channel(at) & 3) + (refracts ? 4 : 8));
        return at;
    }
#endif
#ifdef HAVE_PARAMETERS
    at.reflectivity = refracts ? 1.0 : -1.0;
#endif
    return at;
}
