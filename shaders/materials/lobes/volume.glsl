// Light passes through thin walls, or into volumes (KHR_materials_volume), by refraction.
#include "materials/lobes/passing.glsl"
#include "materials/thin_dielectric.glsl"

// Takes its share of the base's dielectric.
Passing passing_within(inout Base base, Interaction at, Principled material, bool front) {
    Passing passing;
    float cosine = min(base.wo.z, 1.0);
    passing.clear = base.opaque * clamp(material.transmission, 0.0, 1.0);
    base.opaque -= passing.clear;
    passing.tint = at.albedo;
    passing.wall = material.thickness <= 0.0;
    passing.ratio = passing.wall || front ? material.ior : 1.0 / material.ior;
    float rise = rise_albedo(cosine, base.alpha, passing.ratio);
    float crossing = crossing_albedo(cosine, base.alpha, passing.ratio);
    float crossing_rise = crossing_rise_albedo(cosine, base.alpha, passing.ratio);
    passing.total = rough_dielectric_total(passing.ratio, base.f0, base.f90, base.albedo, rise, crossing, crossing_rise);
    passing.chance = passing.clear * mix(1.0, principled_mean(passing.tint), 0.9);
    return passing;
}

// Its part of the BSDF times the cosine; wi: in the base's frame, wi_world: in the world.
vec3 passing_value(Base base, Passing passing, Microfacets facets, vec3 wi, vec3 wi_world, out float pdf) {
    float wall_pdf = facets.density;
    pdf = 0.0;
    if (base.single) return vec3(0.0);
    vec3 wall_value = thin_dielectric_part(wi, facets.dielectric, passing.tint, facets.lobe / base.albedo, wall_pdf);
    vec3 rough_value = rough_dielectric_value(
        base.wo, wi, base.alpha, passing.ratio, base.f0, base.f90, passing.tint, passing.total, pdf
    );
    pdf = passing.wall ? wall_pdf : pdf;
    return passing.clear * (passing.wall ? wall_value : rough_value);
}

// u: the last chooses between reflection and refraction.
LobeSample passing_sample(Base base, Passing passing, vec3 wo, vec3 u, LobeSample lobe) {
    float choice = min(u.z, 0.99999994);
    vec3 through_wall = thin_dielectric_direction(base.wo, lobe.local, choice, base.ior, base.f0, base.f90, passing.tint);
    vec3 through_boundary = rough_dielectric_sample(
        base.wo, vec3(u.xy, choice), base.alpha, passing.ratio, base.f0, base.f90, passing.tint
    );
    lobe.local = passing.wall ? through_wall : through_boundary;
    lobe.delta = base.single;
    if (lobe.delta) {
        vec3 reflected, refracted;
        lobe.wi = passing_refracted(base, passing, wo, reflected, refracted);
        float chance = reflecting_probability(reflected, passing.tint);
        lobe.mirrors = choice < chance;
        lobe.single = passing.clear / passing.chance * (lobe.mirrors ? reflected / chance : refracted / max(1.0 - chance, 1e-20));
    }
    return lobe;
}
