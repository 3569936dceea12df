// Without textures nothing has levels: shading/surface_level.glsl.

float surface_level(Ray ray, float t) { return 0.0; }
