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

vec3 passing_value(Base base, Passing passing, Microfacets facets, vec3 wi, vec3 far, out float pdf) {
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

// u: the last chooses between reflection and refraction.
Way passing_sample(Base base, Passing passing, vec3 wo, vec3 u, Way way) {
    float last = min(u.z, 0.99999994);
    vec3 wall = thin_dielectric_way(base.wo, way.local, last, base.ior, base.f0, base.f90, passing.tint);
    vec3 across = rough_dielectric_sample(
        base.wo, vec3(u.xy, last), base.alpha, passing.ratio, base.f0, base.f90, passing.tint
    );
    way.local = passing.wall ? wall : across;
    way.delta = base.single;
    if (way.delta) {
        vec3 back, on;
        way.wi = passing_refracted(base, passing, wo, back, on);
        float chance = reflecting_probability(back, passing.tint);
        way.mirrors = last < chance;
        way.single = passing.clear / passing.chance * (way.mirrors ? back / chance : on / max(1.0 - chance, 1e-20));
    }
    return way;
}
