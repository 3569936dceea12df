// The light tree's data on a receiving surface; transmissive BSDFs are lit from both sides.
#include "interface/interaction.glsl"

vec4 receiver_of(Interaction at) {
    vec4 found = vec4(dot(at.shading, at.wo) < 0.0 ? -at.shading : at.shading, 0.0);
#ifdef HAVE_BELOW
    if (interaction_kind(at) == BSDF_PRINCIPLED) found.w = 1.0;
#endif
    return found;
}
