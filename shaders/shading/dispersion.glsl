// Where the channels of light part; see shading/bsdf_dispersive.glsl.
#include "interface/dispersion.glsl"
#include "shading/channel_index.glsl"

bool channels_part(Interaction at) {
#ifdef HAVE_CLASSIC
    if (interaction_kind(at) == BSDF_CLASSIC) return at.specular > 0.0;
#endif
    return interaction_kind(at) == BSDF_DIELECTRIC && at.specular > 0.0;
}

Interaction at_channel(Interaction at, int channel) {
#ifdef HAVE_CLASSIC
    if (interaction_kind(at) == BSDF_CLASSIC) {
        vec3 indices = classic_own(interaction_material(at)).indices;
        at.parameter = channel == 0 ? indices.x : channel == 1 ? indices.y : indices.z;
    } else
#endif
    at.parameter = channel_index(at, channel);
    at.specular = 0.0;
    return at;
}
