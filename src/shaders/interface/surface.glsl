// What the scene's appearance provides.

// The surface at a hit: shading normal on the ray's side, and albedo.
Surface surface_at(Ray ray, Hit hit);

// Radiance, linear sRGB, that the surface at a hit emits towards the ray's origin.
vec3 emission_seen(Ray ray, Hit hit);
