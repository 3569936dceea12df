// The share of the dielectric that lets light through (KHR_materials_transmission): a thin wall, or the boundary of a
// volume, in the terms of materials/lobes/wall.glsl or volume.glsl. Functions of a lobe: see viewer/materials/bsdf.py.
#include "materials/lobes/base.glsl"
#include "materials/rough_dielectric.glsl"

struct Passing {
    float clear, chance;        // its share
    float ratio;                // index on the other side / on the side of wo
    bool wall;                  // thin, without a volume
    vec3 tint;
    vec3 total;                 // of a volume's reflection and refraction, by single scattering
};

// Through a smooth surface: what is reflected, and where the rest goes.
vec3 passing_refracted(Base base, Passing passing, vec3 wo, out vec3 reflection, out vec3 refraction) {
    float cos_behind, inverse_ratio = 1.0 / passing.ratio;
    reflection = fresnel_dielectric(base.wo.z, passing.ratio, base.f0, base.f90, cos_behind);
    refraction = passing.tint * (1.0 - reflection);
    if (passing.wall) return -wo;
    refraction *= cos_behind > 0.0 ? inverse_ratio * inverse_ratio : 0.0;
    return normalize(base.normal * (base.wo.z * inverse_ratio - cos_behind) - wo * inverse_ratio);
}

vec3 passing_albedo(Base base, Passing passing) {
    return base.single ? vec3(0.0) : passing.clear * 0.5 * (1.0 + passing.tint);
}

// Adds what a smooth surface reflects, and gives the direction and the weight of what it lets through.
void passing_branch(
    Base base, Passing passing, vec3 wo, inout vec3 reflection, inout vec3 refracted, inout vec3 refraction
) {
    if (base.single) {
        vec3 reflected_share, transmitted_share;
        refracted = passing_refracted(base, passing, wo, reflected_share, transmitted_share);
        reflection += passing.clear * reflected_share;
        refraction = passing.clear * transmitted_share;
    }
}

void passing_facets(Passing passing, inout vec3 wo, inout vec2 alpha) {}

bool passing_single(Principled material, inout float matte) {
    matte *= 1.0 - material.transmission;
    return true;
}
