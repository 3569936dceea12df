// A metal: GGX with Schlick's Fresnel reflectance, compensated for several reflections.
//
//   vec3 metal_value(vec3 wo, vec3 wi, vec2 alpha, vec3 f0, vec3 f90, float albedo, out float pdf)
//   vec3 metal_sample(vec3 wo, vec2 u, vec2 alpha)       zero: absorbed
//   vec3 metal_compensation(vec3 f0, float albedo, vec2 alpha)
//   float ggx_mean_albedo(vec2 alpha)
//
// Directions as in ggx.glsl. f0: the base colour; f90: 1. albedo: ggx_albedo(wo.z, alpha). glTF 2.0, appendix B.2.1.
#include "materials/fresnel.glsl"
#include "materials/ggx.glsl"

// The mean of ggx_albedo over directions by their cosines: a fit to assets/albedo.npz, 1e-4 off at most.
float ggx_mean_albedo(vec2 alpha) {
    float r2 = sqrt(clamp(0.5 * dot(alpha, alpha), 0.0, 1.0)), r = sqrt(r2);
    float lost = -0.00920171 + r * (0.35593447 + r * (2.95561383 + r * (-4.2784067 + r * 1.56700157)));
    return 1.0 - r2 * lost;
}

// ggx_compensation with a metal's colour after several reflections: the series of Kulla and Conty, Revisiting Physically
// Based Shading at Imageworks (2017), appendix, on Turquin's factor, as Cycles has it. Beside walks on Smith's surface
// (Heitz et al. 2016) of roughness 1 it is 7 % dark (RMS over angles and f0 of 0.1 .. 0.8; 9 % at most), and Turquin's
// f0 in its place 8 % bright (16 % at most); below roughness 0.8 both are within 2.5 %.
vec3 metal_compensation(vec3 f0, float albedo, vec2 alpha) {
    float mean = ggx_mean_albedo(alpha);
    vec3 facet = mix(f0, vec3(1.0), 1.0 / 21.0);  // Schlick's reflectance, averaged like that
    return 1.0 + facet * mean / (1.0 - facet * (1.0 - mean)) * ((1.0 - albedo) / albedo);
}

// The BRDF times wi.z; pdf: of metal_sample.
vec3 metal_value(vec3 wo, vec3 wi, vec2 alpha, vec3 f0, vec3 f90, float albedo, out float pdf) {
    vec3 h = wo + wi;
    float cosine = dot(wo, h) * inversesqrt(max(dot(h, h), 1e-36));
    float lobe = ggx_reflection(wo, wi, alpha, pdf);
    return fresnel_schlick(cosine, f0, f90) * metal_compensation(f0, albedo, alpha) * lobe;
}

vec3 metal_sample(vec3 wo, vec2 u, vec2 alpha) {
    return ggx_reflection_sample(wo, u, alpha);
}
