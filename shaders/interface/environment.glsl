// What surrounds the scene.

// Radiance, linear sRGB, that comes from infinitely far along a unit direction, world space.
vec3 environment_radiance(vec3 direction);
