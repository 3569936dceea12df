// What the light tree knows of the surface that light is looked for at; of unlike kinds those that let light through are
// lit from both sides.
#include "interface/interaction.glsl"

vec4 receiver_of(Interaction at) {
    vec4 found = vec4(dot(at.shading, at.wo) < 0.0 ? -at.shading : at.shading, 0.0);
#ifdef HAVE_BELOW
    if (interaction_kind(at) == BSDF_PRINCIPLED) found.w = 1.0;
#endif
    return found;
}
