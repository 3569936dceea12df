// What the list of lights provides.

// One light, and a point or a direction of it, seen from a position; choose and u in [0, 1). compensated: as for
// environment_sample; the other lights do not depend on it.
// False: nothing comes from there to this position, or there is no light; found is of no meaning then.
bool light_sample(vec3 position, float choose, vec2 u, bool compensated, out LightSample found);

// The density, 1 / sr, with which light_sample chooses the environment in a unit direction.
float environment_pdf(vec3 direction, bool compensated);
#ifdef HAVE_LIGHT_TREE

// What light is looked for: the unit normal of the surface, on the side that the path came from, and 1 where it lets
// light through to that side, too. light_choose and emitter_density read it.
vec4 light_receiver;

// Goes down the light tree for the light_sample behind it, which is of the same position and choose; apart from that,
// since Mesa 22.3 computes loops wrongly behind a return. looks: whether there is one.
void light_choose(vec3 position, float choose, bool looks);
#endif
