// A rough boundary of a dielectric volume, which reflects and refracts: GGX with exact Fresnel reflectance, compensated
// for several reflections. For KHR_materials_transmission with KHR_materials_volume.
//
//   vec3 rough_dielectric_value(vec3 wo, vec3 wi, vec2 alpha, float ratio, vec3 f0, vec3 f90, vec3 tint, vec3 total,
//                               out float pdf)
//   vec3 rough_dielectric_sample(vec3 wo, vec3 u, vec2 alpha, float ratio, vec3 f0, vec3 f90, vec3 tint)
//                                                              zero: absorbed
//   vec3 rough_dielectric_total(float ratio, vec3 f0, vec3 f90, float albedo, float rise, float crossing,
//                               float crossing_rise)
//
// Directions as in ggx.glsl, wi on either side; u: in [0, 1)^3. ratio: index on the other side / on the side of wo; the
// same f0 holds for both ways, and f90 is 1 from the denser side. tint: of what is refracted (the base colour). total:
// of rough_dielectric_total with ggx_albedo(wo.z, alpha), rise_albedo, crossing_albedo and crossing_rise_albedo (wo.z,
// alpha, ratio); the last is of no use, and may be 0, where f90 is 1. Radiance is scaled by the squared ratio of the
// indices when it crosses (Veach 1997, section 5.2), as in shading/bsdf_dielectric.glsl. Walter et al., Microfacet
// Models for Refraction through Rough Surfaces (2007); compensated as a whole: Turquin 2019, section 6.
#include "materials/fresnel.glsl"
#include "materials/ggx.glsl"

// Equal indices refract into one direction only; float32 tells half vectors apart as far as this.
float apart_from_one(float ratio) {
    return abs(ratio - 1.0) < 1e-3 ? 1.001 : ratio;
}

vec2 refracting_alpha(vec2 alpha, float ratio) {
    return max(alpha, vec2(2e-5 / abs(ratio - 1.0)));
}

// Of reflecting at a microfacet rather than refracting.
float reflecting_probability(vec3 reflectance, vec3 tint) {
    float reflected = dot(reflectance, vec3(1.0)), refracted = dot((1.0 - reflectance) * tint, vec3(1.0));
    return reflected + refracted > 0.0 ? reflected / (reflected + refracted) : 1.0;
}

// The BSDF times |wi.z|; pdf: of rough_dielectric_sample.
vec3 rough_dielectric_value(
    vec3 wo, vec3 wi, vec2 alpha, float ratio, vec3 f0, vec3 f90, vec3 tint, vec3 total, out float pdf
) {
    float eta = apart_from_one(ratio), refracted_cosine;
    vec2 a = refracting_alpha(alpha, eta);
    bool reflecting = wi.z > 0.0;
    vec3 h = wo + (reflecting ? wi : eta * wi);
    h *= inversesqrt(max(dot(h, h), 1e-36)) * (h.z < 0.0 ? -1.0 : 1.0);
    float cos_h_o = max(dot(wo, h), 0.0), cos_h_i = max(-dot(wi, h), 0.0), cos_o = max(wo.z, 1e-9), cos_i = abs(wi.z);
    vec3 reflectance = fresnel_dielectric(cos_h_o, eta, f0, f90, refracted_cosine);
    float probability = reflecting_probability(reflectance, tint), stretch_o = ggx_stretch(wo, a);
    // How much closer normals lie than the directions refracted at them, without the squared ratio.
    float spread = 1.0 / max((cos_h_o - eta * cos_h_i) * (cos_h_o - eta * cos_h_i), 1e-30);
    float normal_density = ggx_distribution(h, a) * float(wo.z > 0.0 && cos_i > 0.0);
    float jacobian = reflecting ? 0.5 : 2.0 * cos_h_o * cos_h_i * spread;
    pdf = normal_density * jacobian / (cos_o + stretch_o) * (reflecting ? probability : (1.0 - probability) * eta * eta);
    float single = normal_density * jacobian * cos_i / max(stretch_o * cos_i + ggx_stretch(wi, a) * cos_o, 1e-30);
    return (reflecting ? reflectance : (1.0 - reflectance) * tint * (eta * eta / (ratio * ratio))) * single / total;
}

// A direction by visible normals, reflected or refracted as u.z chooses; zero: absorbed.
vec3 rough_dielectric_sample(vec3 wo, vec3 u, vec2 alpha, float ratio, vec3 f0, vec3 f90, vec3 tint) {
    float eta = apart_from_one(ratio), refracted_cosine;
    vec3 h = ggx_visible_normal(wo, u.xy, refracting_alpha(alpha, eta));
    float cos_h_o = dot(wo, h);
    bool reflecting = u.z < reflecting_probability(fresnel_dielectric(cos_h_o, eta, f0, f90, refracted_cosine), tint);
    vec3 wi = normalize(reflecting ? 2.0 * cos_h_o * h - wo : (cos_h_o / eta - refracted_cosine) * h - wo / eta);
    return wi * float(reflecting ? wi.z > 0.0 : wi.z < 0.0);
}

// What is reflected and refracted in all, in power, by single scattering and without the tint.
vec3 rough_dielectric_total(
    float ratio, vec3 f0, vec3 f90, float albedo, float rise, float crossing, float crossing_rise
) {
    vec3 grazing = ratio < 1.0 ? vec3(1.0) : f90;
    vec3 reflected = f0 * (albedo - rise) + grazing * rise;
    return max(reflected + (1.0 - f0) * crossing + (1.0 - grazing) * crossing_rise, vec3(1e-3));
}
