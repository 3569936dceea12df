// Lights chosen by power through an alias table, whose slots share the quanta evenly, from wherever they are looked for.
#include "interface/light_emitter.glsl"
#include "shading/light.glsl"

LightContext light_context(vec3 position, vec4 receiver) {
    return LightContext(0.0);
}

void light_choose(LightContext context, float choose, bool samples_light) {}

// The light of a quantum: that of its slot, or the slot's alias.
Light light_of(int quantum) {
    quantum -= environment_levels;
    int slot = quantum / light_levels;
    Light first = fetch_lights(slot);
    return fetch_lights(quantum - slot * light_levels < first.threshold ? slot : first.alias);
}

float emitter_pdf(LightContext context, Hit hit, float light_pdf, float facing) {
    return light_pdf * hit.t * hit.t / max(facing, 1e-20);
}
