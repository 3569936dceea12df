// A dielectric in the base, which reflects by its index.
#include "materials/fresnel.glsl"
#include "materials/specular.glsl"

// Of a microfacet.
vec3 dielectric_reflectance(float cosine, float ior, vec3 f0, vec3 f90) {
    float behind;
    return fresnel_dielectric(cosine, ior, f0, f90, behind);
}

// Of the whole lobe. single: it is a mirror; albedo: of GGX; rise: rise_albedo.
vec3 dielectric_albedo(float cosine, vec2 alpha, float ior, bool single, vec3 f0, vec3 f90, float albedo, out float rise) {
    rise = rise_albedo(cosine, alpha, ior);
    return single ? dielectric_reflectance(cosine, ior, f0, f90) : specular_albedo(f0, f90, albedo, rise);
}

// Its part of what the base reflects.
vec3 dielectric_part(vec3 reflected, float opaque) { return reflected * opaque; }
