// What the scene's appearance provides.

// The surface at a hit: shading normal on the ray's side, and albedo.
Surface surface_at(Ray ray, Hit hit);
