// Where the channels of light part; see shading/bsdf_dispersive.glsl.
#include "interface/dispersion.glsl"
#include "shading/channel_index.glsl"

bool channels_part(Interaction at) {
    return interaction_kind(at) == BSDF_DIELECTRIC && at.specular > 0.0;
}

Interaction at_channel(Interaction at, int channel) {
    at.parameter = channel_index(at, channel);
    at.specular = 0.0;
    return at;
}
