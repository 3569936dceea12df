// Light passes through thin walls, or into volumes (KHR_materials_volume), by refraction.
#include "materials/lobes/passing.glsl"
#include "materials/thin_dielectric.glsl"

// Takes its share of the base's dielectric.
Passing passing_within(inout Base base, Interaction at, Principled own, bool front) {
    Passing found;
    float cosine = min(base.wo.z, 1.0);
    found.clear = base.opaque * clamp(own.transmission, 0.0, 1.0);
    base.opaque -= found.clear;
    found.tint = at.albedo;
    found.wall = own.thickness <= 0.0;
    found.ratio = found.wall || front ? own.ior : 1.0 / own.ior;
    float other = rise_albedo(cosine, base.alpha, found.ratio);
    float across = crossing_albedo(cosine, base.alpha, found.ratio);
    float across_rise = crossing_rise_albedo(cosine, base.alpha, found.ratio);
    found.total = rough_dielectric_total(found.ratio, base.f0, base.f90, base.albedo, other, across, across_rise);
    found.chance = found.clear * mix(1.0, principled_mean(found.tint), 0.9);
    return found;
}

vec3 passing_value(Base base, Passing passing, Facets facets, vec3 wi, vec3 far, out float pdf) {
    float walled = facets.density;
    pdf = 0.0;
    if (base.single) return vec3(0.0);
    vec3 wall = thin_dielectric_part(wi, facets.dielectric, passing.tint, facets.lobe / base.albedo, walled);
    vec3 across = rough_dielectric_value(
        base.wo, wi, base.alpha, passing.ratio, base.f0, base.f90, passing.tint, passing.total, pdf
    );
    pdf = passing.wall ? walled : pdf;
    return passing.clear * (passing.wall ? wall : across);
}

vec3 passing_local(Base base, Passing passing, vec3 mirrored, vec3 u) {
    vec3 wall = thin_dielectric_way(base.wo, mirrored, u.z, base.ior, base.f0, base.f90, passing.tint);
    vec3 across = rough_dielectric_sample(base.wo, u, base.alpha, passing.ratio, base.f0, base.f90, passing.tint);
    return passing.wall ? wall : across;
}
