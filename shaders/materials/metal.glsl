// A metal: GGX with Schlick's Fresnel reflectance, compensated for several reflections.
//
//   vec3 metal_value(vec3 wo, vec3 wi, vec2 alpha, vec3 f0, vec3 f90, float albedo, out float pdf)
//   vec3 metal_sample(vec3 wo, vec2 u, vec2 alpha)       zero: absorbed
//   vec3 metal_albedo(float cosine, vec3 f0, vec3 f90, float albedo)
//
// Directions as in ggx.glsl. f0: the base colour; f90: 1. albedo: ggx_albedo(wo.z, alpha). glTF 2.0, appendix B.2.1.
#include "materials/fresnel.glsl"
#include "materials/ggx.glsl"

// The BRDF times wi.z; pdf: of metal_sample.
vec3 metal_value(vec3 wo, vec3 wi, vec2 alpha, vec3 f0, vec3 f90, float albedo, out float pdf) {
    vec3 h = wo + wi;
    float cosine = dot(wo, h) * inversesqrt(max(dot(h, h), 1e-36));
    float lobe = ggx_reflection(wo, wi, alpha, pdf);
    return fresnel_schlick(cosine, f0, f90) * ggx_compensation(f0, albedo) * lobe;
}

vec3 metal_sample(vec3 wo, vec2 u, vec2 alpha) {
    return ggx_reflection_sample(wo, u, alpha);
}

// About what it reflects in all, seen under this cosine: Fresnel's reflectance by the normal. To choose among lobes.
vec3 metal_albedo(float cosine, vec3 f0, vec3 f90, float albedo) {
    return fresnel_schlick(cosine, f0, f90) * ggx_compensation(f0, albedo) * albedo;
}
