// A smooth dielectric at which channels part: interface/dispersion.glsl.
#include "shading/channel_index.glsl"
#include "shading/channels_smooth.glsl"

Interaction dielectric_at_channel(Interaction at, int channel) {
    return smooth_channel(at, channel_index(at, channel));
}
