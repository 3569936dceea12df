// A thin wall, which reflects and lets through without refraction, spread by its roughness: GGX with exact Fresnel
// reflectance, compensated for several reflections. For KHR_materials_transmission without a volume.
//
//   vec3 thin_dielectric_value(vec3 wo, vec3 wi, vec2 alpha, float ior, vec3 f0, vec3 f90, vec3 tint, float albedo,
//                              out float pdf)
//   vec3 thin_dielectric_sample(vec3 wo, vec3 u, vec2 alpha, float ior, vec3 f0, vec3 f90, vec3 tint)   zero: absorbed
//
// Directions as in ggx.glsl, wi on either side; u: in [0, 1)^3. ior: of the wall against air, from both sides. tint: of
// what passes (the base colour). albedo: ggx_albedo(wo.z, alpha), which is what is reflected and passes in all.
#include "materials/rough_dielectric.glsl"

// What is reflected or passes, as wi says, of a compensated lobe and its density (ggx_reflection of wi or of its image
// above). reflectance: Fresnel's reflectance.
vec3 thin_dielectric_part(vec3 wi, vec3 reflectance, vec3 tint, float lobe, inout float pdf) {
    float probability = reflecting_probability(reflectance, tint);
    pdf *= wi.z > 0.0 ? probability : 1.0 - probability;
    return (wi.z > 0.0 ? reflectance : (1.0 - reflectance) * tint) * lobe;
}

// The BSDF times |wi.z|; pdf: of thin_dielectric_sample.
vec3 thin_dielectric_value(
    vec3 wo, vec3 wi, vec2 alpha, float ior, vec3 f0, vec3 f90, vec3 tint, float albedo, out float pdf
) {
    vec3 mirrored = vec3(wi.xy, abs(wi.z)), h = wo + mirrored;
    float cosine = dot(wo, h) * inversesqrt(max(dot(h, h), 1e-36)), cos_behind;
    vec3 reflectance = fresnel_dielectric(cosine, ior, f0, f90, cos_behind);
    float lobe = ggx_reflection(wo, mirrored, alpha, pdf);
    return thin_dielectric_part(wi, reflectance, tint, lobe / albedo, pdf);
}

// The direction of ggx_reflection_sample, or what passes instead.
vec3 thin_dielectric_direction(vec3 wo, vec3 wi, float u, float ior, vec3 f0, vec3 f90, vec3 tint) {
    vec3 h = wo + wi;
    float cosine = dot(wo, h) * inversesqrt(max(dot(h, h), 1e-36)), cos_behind;
    float probability = reflecting_probability(fresnel_dielectric(cosine, ior, f0, f90, cos_behind), tint);
    return vec3(wi.xy, u < probability ? wi.z : -wi.z);
}

vec3 thin_dielectric_sample(vec3 wo, vec3 u, vec2 alpha, float ior, vec3 f0, vec3 f90, vec3 tint) {
    return thin_dielectric_direction(wo, ggx_reflection_sample(wo, u.xy, alpha), u.z, ior, f0, f90, tint);
}
