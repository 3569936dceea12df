// What the list of lights provides.

// One light, and a point or a direction of it, seen from a position; choose and u in [0, 1). compensated: as for
// environment_sample; the other lights do not depend on it.
// False: nothing comes from there to this position, or there is no light; found is of no meaning then.
bool light_sample(vec3 position, float choose, vec2 u, bool compensated, out LightSample found);

// The density, 1 / sr, with which light_sample chooses the environment in a unit direction.
float environment_pdf(vec3 direction, bool compensated);
