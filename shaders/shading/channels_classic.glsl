// Classic glass at which channels part: interface/dispersion.glsl.
#include "shading/channels_smooth.glsl"

Interaction classic_at_channel(Interaction at, int channel) {
    vec3 indices = classic_material(interaction_material(at)).indices;
    return smooth_channel(at, channel == 0 ? indices.x : channel == 1 ? indices.y : indices.z);
}
