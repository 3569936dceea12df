// The microfacet distribution GGX with Smith's height-correlated shadowing, isotropic and anisotropic; reflection by it
// without Fresnel's reflectance, which metal.glsl, specular.glsl and clearcoat.glsl multiply in.
//
//   vec2 ggx_alpha(float roughness)                              glTF's roughness, alike in all directions
//   vec2 ggx_alpha_anisotropic(float roughness, float strength)  x along the anisotropy's direction
//   float ggx_distribution(vec3 h, vec2 alpha)
//   float ggx_stretch(vec3 w, vec2 alpha)
//   vec3 ggx_visible_normal(vec3 wo, vec2 u, vec2 alpha)
//   float ggx_reflection(vec3 wo, vec3 wi, vec2 alpha, out float pdf)
//   vec3 ggx_reflection_sample(vec3 wo, vec2 u, vec2 alpha)
//   vec3 ggx_compensation(vec3 f0, float albedo)
//
// Directions are unit vectors of the local frame whose z is the shading normal on the side of wo; wo.z > 0. u: in
// [0, 1)^2. Walter et al., Microfacet Models for Refraction through Rough Surfaces (2007); Heitz, Understanding the
// Masking-Shadowing Function (2014).

// A mirror is as good as smooth; the squares of half vectors' rounding are small against it.
const float MIN_ALPHA = 1e-4;

vec2 ggx_alpha(float roughness) {
    return vec2(max(roughness * roughness, MIN_ALPHA));
}

// KHR_materials_anisotropy: strength 0 .. 1.
vec2 ggx_alpha_anisotropic(float roughness, float strength) {
    float alpha = roughness * roughness;
    return max(vec2(mix(alpha, 1.0, strength * strength), alpha), vec2(MIN_ALPHA));
}

// Of normals h on the side of z, per solid angle.
float ggx_distribution(vec3 h, vec2 alpha) {
    vec3 stretched = vec3(h.xy / alpha, h.z);
    float length2 = dot(stretched, stretched);
    return h.z > 0.0 ? 0.31830989 / (alpha.x * alpha.y * length2 * length2) : 0.0;
}

// |w.z| (1 + 2 Lambda(w)).
float ggx_stretch(vec3 w, vec2 alpha) {
    return length(vec3(alpha * w.xy, w.z));
}

// A normal halfway between the stretched direction and a point of the unit sphere's cap from its top down to -bottom. Dupuy and Benyoub, Sampling Visible GGX Normals with Spherical Caps (2023).
vec3 ggx_cap_normal(vec3 stretched, float bottom, vec2 u, vec2 alpha) {
    float angle = 6.2831853 * u.x, depth = u.y * (1.0 + bottom);
    vec3 cap = vec3(sqrt(max(depth * (2.0 - depth), 0.0)) * vec2(cos(angle), sin(angle)), 1.0 - depth);
    vec3 h = stretched + cap;
    h = vec3(alpha * h.xy, max(h.z, 1e-20));
    return h * inversesqrt(max(dot(h, h), 1e-36));
}

// A normal that wo sees.
vec3 ggx_visible_normal(vec3 wo, vec2 u, vec2 alpha) {
    vec3 stretched = normalize(vec3(alpha * wo.xy, wo.z));
    return ggx_cap_normal(stretched, stretched.z, u, alpha);
}

// By how much visible normals are bounded (Eto and Tokuyoshi 2023, eq. 5): lower ones reflect below the surface.
float ggx_bound(vec3 wo, vec2 alpha) {
    float a = min(min(alpha.x, alpha.y), 1.0), s = 1.0 + length(wo.xy), a2 = a * a, s2 = s * s;
    return (1.0 - a2) * s2 / (s2 + a2 * wo.z * wo.z);
}

// The lobe of a Fresnel reflectance of 1, times wi.z; 0 below. pdf: of ggx_reflection_sample, per solid angle.
float ggx_reflection(vec3 wo, vec3 wi, vec2 alpha, out float pdf) {
    vec3 h = wo + wi;
    h *= inversesqrt(max(dot(h, h), 1e-36));
    float are_above = float(wo.z > 0.0 && wi.z > 0.0), cos_o = max(wo.z, 1e-9), cos_i = max(wi.z, 0.0);
    float stretch_o = ggx_stretch(wo, alpha), distribution = 0.5 * are_above * ggx_distribution(h, alpha);
    pdf = distribution / (ggx_bound(wo, alpha) * cos_o + stretch_o);
    return distribution * cos_i / max(stretch_o * cos_i + ggx_stretch(wi, alpha) * cos_o, 1e-30);
}

// A direction by bounded visible normals: Eto and Tokuyoshi, Bounded VNDF Sampling for Smith-GGX Reflections (2023).
// Zero where it would be below: absorbed.
vec3 ggx_reflection_sample(vec3 wo, vec2 u, vec2 alpha) {
    vec3 stretched = normalize(vec3(alpha * wo.xy, wo.z));
    vec3 h = ggx_cap_normal(stretched, ggx_bound(wo, alpha) * stretched.z, u, alpha);
    vec3 wi = normalize(2.0 * dot(wo, h) * h - wo);
    return wi * float(wi.z > 0.0);
}

// What a single-scattering lobe is to be multiplied with for the light that leaves after several reflections. albedo:
// E of the lobe with a Fresnel reflectance of 1, ggx_albedo(wo.z, alpha). It depends on wo alone, so what it multiplies
// is no longer reciprocal. Turquin, Practical Multiple Scattering Compensation for Microfacet Models (2019), eq. 16.
vec3 ggx_compensation(vec3 f0, float albedo) {
    return 1.0 + f0 * ((1.0 - albedo) / albedo);
}
