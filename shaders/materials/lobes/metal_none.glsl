// No metal in the base: materials/lobes/metal.glsl.

vec3 metal_reflectance(float cosine, vec3 color) { return vec3(0.0); }

vec3 metal_part(vec3 reflected, float metallic) { return vec3(0.0); }
