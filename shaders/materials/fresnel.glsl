// Fresnel's reflectance of the layers of glTF's materials.
//
//   vec3 fresnel_schlick(float cosine, vec3 f0, vec3 f90)
//   float fresnel_rise(float cosine, float ratio, out float behind)
//   vec3 fresnel_dielectric(float cosine, float ratio, vec3 f0, vec3 f90, out float behind)
//   float fresnel_f0(float ratio)
//
// cosine: of the angle between direction and (micro)normal, 0 .. 1. ratio: index behind the boundary / index before it.
// f0, f90: reflectance straight on and at grazing incidence.

// Straight on.
float fresnel_f0(float ratio) {
    float r = (ratio - 1.0) / (ratio + 1.0);
    return r * r;
}

// Schlick, An Inexpensive BRDF Model for Physically-based Rendering (1994); glTF 2.0, appendix B.3.3: metals.
vec3 fresnel_schlick(float cosine, vec3 f0, vec3 f90) {
    float one_minus = 1.0 - clamp(cosine, 0.0, 1.0), one_minus2 = one_minus * one_minus;
    return f0 + (f90 - f0) * (one_minus2 * one_minus2 * one_minus);
}

// s of F = F0 + (1 - F0) s, by Fresnel's equations for unpolarised light: 0 straight on, 1 at grazing incidence and
// beyond the critical angle. cos_behind: cosine of the angle of refraction; 0 where all is reflected. Born and Wolf,
// Principles of Optics (1999), section 1.5.
float fresnel_rise(float cosine, float ratio, out float cos_behind) {
    float cos_front = clamp(cosine, 1e-6, 1.0);
    cos_behind = sqrt(max(1.0 - (1.0 - cos_front * cos_front) / (ratio * ratio), 0.0));
    float perpendicular = (cos_front - ratio * cos_behind) / (cos_front + ratio * cos_behind);
    float parallel = (ratio * cos_front - cos_behind) / (ratio * cos_front + cos_behind);
    float f0 = fresnel_f0(ratio);
    return (0.5 * (perpendicular * perpendicular + parallel * parallel) - f0) / (1.0 - f0);
}

// Exact where f0 is fresnel_f0(ratio) and f90 is 1; else that curve between f0 and f90, as KHR_materials_specular has
// Schlick's between them. From the denser side f90 counts as 1: total reflection is total.
vec3 fresnel_dielectric(float cosine, float ratio, vec3 f0, vec3 f90, out float cos_behind) {
    float rise = fresnel_rise(cosine, ratio, cos_behind);
    return clamp(f0 + ((ratio < 1.0 ? vec3(1.0) : f90) - f0) * rise, 0.0, 1.0);
}
