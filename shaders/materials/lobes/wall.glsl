// Light passes through thin walls alone: no material has a volume.
#include "materials/lobes/passing.glsl"
#include "materials/thin_dielectric.glsl"

// Takes its share of the base's dielectric.
Passing passing_within(inout Base base, Interaction at, Principled own, bool front) {
    Passing found;
    found.clear = base.opaque * clamp(own.transmission, 0.0, 1.0);
    base.opaque -= found.clear;
    found.tint = at.albedo;
    found.wall = true;
    found.ratio = own.ior;
    found.total = vec3(1.0);
    found.chance = found.clear * mix(1.0, principled_mean(found.tint), 0.9);
    return found;
}

vec3 passing_value(Base base, Passing passing, Facets facets, vec3 wi, vec3 far, out float pdf) {
    pdf = 0.0;
    if (base.single) return vec3(0.0);
    pdf = facets.density;
    return passing.clear * thin_dielectric_part(wi, facets.dielectric, passing.tint, facets.lobe / base.albedo, pdf);
}

vec3 passing_local(Base base, Passing passing, vec3 mirrored, vec3 u) {
    return thin_dielectric_way(base.wo, mirrored, u.z, base.ior, base.f0, base.f90, passing.tint);
}
