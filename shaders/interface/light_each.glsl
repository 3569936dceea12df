// What lights provide to whoever asks all of them instead of choosing one.

// How many there are: every light without extent, suns of the environment among them, and all that shines by its
// surface together.
int each_light_count();

// Light number index, 0 .. each_light_count() - 1, seen from a position; choose and u in [0, 1) pick a point of a light
// that has extent. False: nothing comes from there; sampled is undefined then.
bool each_light_sample(int index, vec3 position, float choose, vec2 u, out LightSample sampled);

// Irradiance, linear sRGB, W/m^2, of a surface with a unit normal, world space, by the environment without its suns, as
// if nothing were in the way.
vec3 ambient_irradiance(vec3 normal);
