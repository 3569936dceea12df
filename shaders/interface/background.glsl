// What the camera sees where its rays leave the scene. It lights nothing.

// Radiance, linear sRGB, along a unit direction of world space.
vec3 background_radiance(vec3 direction);
