// The specular layer of an opaque dielectric: GGX with a dielectric's Fresnel reflectance, compensated for several
// reflections. What is below it gets what it does not reflect: (1 - specular_albedo) times the base.
//
//   vec3 specular_value(vec3 wo, vec3 wi, vec2 alpha, float ior, vec3 f0, vec3 f90, float albedo, out float pdf)
//   vec3 specular_sample(vec3 wo, vec2 u, vec2 alpha)    zero: absorbed
//   vec3 specular_albedo(vec3 f0, vec3 f90, float albedo, float rise)
//
// Directions as in ggx.glsl. ior: of the material, against air. f0, f90 (KHR_materials_specular):
// min(fresnel_f0(ior) * specular_color, 1) * specular, and specular. albedo: ggx_albedo(wo.z, alpha); rise:
// rise_albedo(wo.z, alpha, ior). glTF 2.0, appendix B.2.2, which leaves the form of Fresnel's reflectance open: here it
// is exact, as it is for transmission.
#include "materials/fresnel.glsl"
#include "materials/ggx.glsl"

// The BRDF times wi.z; pdf: of specular_sample.
vec3 specular_value(vec3 wo, vec3 wi, vec2 alpha, float ior, vec3 f0, vec3 f90, float albedo, out float pdf) {
    vec3 h = wo + wi;
    float cosine = dot(wo, h) * inversesqrt(max(dot(h, h), 1e-36)), cos_behind;
    float lobe = ggx_reflection(wo, wi, alpha, pdf);
    return fresnel_dielectric(cosine, ior, f0, f90, cos_behind) * ggx_compensation(f0, albedo) * lobe;
}

vec3 specular_sample(vec3 wo, vec2 u, vec2 alpha) {
    return ggx_reflection_sample(wo, u, alpha);
}

// The directional albedo of specular_value, 0 .. 1.
vec3 specular_albedo(vec3 f0, vec3 f90, float albedo, float rise) {
    return min((f0 * (albedo - rise) + f90 * rise) * ggx_compensation(f0, albedo), vec3(1.0));
}
