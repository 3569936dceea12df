// A clear varnish of index 1.5: GGX, isotropic, compensated for several reflections. For KHR_materials_clearcoat, in the
// frame of the coat's own normal; what lies below it is scaled by what clearcoat_albedo leaves.
//
//   float clearcoat_value(vec3 wo, vec3 wi, vec2 alpha, float albedo, out float pdf)
//   vec3 clearcoat_sample(vec3 wo, vec2 u, vec2 alpha)          zero: absorbed
//   float clearcoat_albedo(float albedo, float rise)
//
// Directions as in ggx.glsl. albedo: ggx_albedo(wo.z, alpha); rise: rise_albedo(wo.z, alpha, CLEARCOAT_INDEX), both by
// the coat's own roughness.
#include "materials/specular.glsl"

const float CLEARCOAT_INDEX = 1.5;

// The BRDF of a whole coat times wi.z; pdf: of clearcoat_sample.
float clearcoat_value(vec3 wo, vec3 wi, vec2 alpha, float albedo, out float pdf) {
    return specular_value(wo, wi, alpha, CLEARCOAT_INDEX, vec3(0.04), vec3(1.0), albedo, pdf).x;
}

vec3 clearcoat_sample(vec3 wo, vec2 u, vec2 alpha) {
    return ggx_reflection_sample(wo, u, alpha);
}

// The directional albedo of a whole coat.
float clearcoat_albedo(float albedo, float rise) {
    return specular_albedo(vec3(0.04), vec3(1.0), albedo, rise).x;
}
