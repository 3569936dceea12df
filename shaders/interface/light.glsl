// What the list of lights provides.

// One light, and a point or a direction of it, seen from a position; choose and u in [0, 1). compensated: as for
// environment_sample; the other lights do not depend on it.
// False: nothing comes from there to this position, or there is no light; sampled is undefined then.
bool light_sample(vec3 position, float choose, vec2 u, bool compensated, out LightSample sampled);

// The density, 1 / sr, with which light_sample chooses the environment in a unit direction.
float environment_pdf(vec3 direction, bool compensated);

// What the choice of a light depends on, of the surface that light is looked for at: the record that a module keeps from
// one surface of a path to the next, empty where lights are chosen by power. receiver: the unit normal on the side that
// the path came from, and 1 where the surface lets light through to that side, too.
LightContext light_context(vec3 position, vec4 receiver);

// Chooses the light for the light_sample behind it, which is of the same choose; apart from that, since Mesa 22.3 computes
// loops wrongly behind a return. samples_light: whether there is one.
void light_choose(LightContext context, float choose, bool samples_light);
