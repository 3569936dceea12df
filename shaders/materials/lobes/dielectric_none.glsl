// No dielectric in the base: materials/lobes/dielectric.glsl.

vec3 dielectric_reflectance(float cosine, float ior, vec3 f0, vec3 f90) { return vec3(0.0); }

vec3 dielectric_albedo(float cosine, vec2 alpha, float ior, bool single, vec3 f0, vec3 f90, float albedo, out float rise) {
    rise = 0.0;
    return vec3(0.0);
}

vec3 dielectric_part(vec3 reflected, float opaque) { return vec3(0.0); }
