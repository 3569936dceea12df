// Light passes through thin walls alone: no material has a volume.
#include "materials/lobes/passing.glsl"
#include "materials/thin_dielectric.glsl"

// Takes its share of the base's dielectric.
Passing passing_within(inout Base base, Interaction at, Principled material, bool front) {
    Passing passing;
    passing.clear = base.opaque * clamp(material.transmission, 0.0, 1.0);
    base.opaque -= passing.clear;
    passing.tint = at.albedo;
    passing.wall = true;
    passing.ratio = material.ior;
    passing.total = vec3(1.0);
    passing.chance = passing.clear * mix(1.0, principled_mean(passing.tint), 0.9);
    return passing;
}

// Its part of the BSDF times the cosine; wi: in the base's frame, wi_world: in the world.
vec3 passing_value(Base base, Passing passing, Microfacets facets, vec3 wi, vec3 wi_world, out float pdf) {
    pdf = 0.0;
    if (base.single) return vec3(0.0);
    pdf = facets.density;
    return passing.clear * thin_dielectric_part(wi, facets.dielectric, passing.tint, facets.lobe / base.albedo, pdf);
}

// u: the last chooses between reflection and passing.
LobeSample passing_sample(Base base, Passing passing, vec3 wo, vec3 u, LobeSample lobe) {
    vec3 h = base.wo + lobe.local;
    float cosine = base.single ? base.wo.z : dot(base.wo, h) * inversesqrt(max(dot(h, h), 1e-36)), behind;
    vec3 reflected = fresnel_dielectric(cosine, base.ior, base.f0, base.f90, behind), transmitted = passing.tint * (1.0 - reflected);
    float chance = reflecting_probability(reflected, passing.tint);
    lobe.mirrors = min(u.z, 0.99999994) < chance;
    lobe.local.z = lobe.mirrors ? lobe.local.z : -lobe.local.z;
    lobe.delta = base.single;
    lobe.single = passing.clear / passing.chance * (lobe.mirrors ? reflected / chance : transmitted / max(1.0 - chance, 1e-20));
    return lobe;
}
