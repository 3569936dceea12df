// What surrounds the scene. Directions are unit vectors, world space.

// Radiance, linear sRGB, that comes from infinitely far along a direction.
vec3 environment_radiance(vec3 direction);

// A direction that light is likely to come from, and the density, 1 / sr, of choosing it.
// u in [0, 1); quantum: a random whole number, 0 .. ENVIRONMENT_LEVELS - 1. compensated: in proportion to what exceeds
// the mean radiance, for estimators that weigh this against BSDF sampling (MIS compensation), else to the radiance.
// The compensated density may be 0 where there is radiance, even everywhere; direction is undefined where it is 0.
void environment_sample(vec2 u, int quantum, bool compensated, out vec3 direction, out float density);

// The density of environment_sample in a direction.
float environment_density(vec3 direction, bool compensated);
