// What the choice of a light knows of the surface that light is looked for at; of unlike kinds those that let light through
// are lit from both sides.
#include "interface/interaction.glsl"
#include "interface/light.glsl"

LightContext light_context_at(Interaction at) {
    vec4 receiver = vec4(dot(at.shading, at.wo) < 0.0 ? -at.shading : at.shading, 0.0);
#ifdef HAVE_BELOW
    if (interaction_kind(at) == BSDF_PRINCIPLED) receiver.w = 1.0;
#endif
    return light_context(at.position, receiver);
}
