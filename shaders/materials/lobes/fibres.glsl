// The sheen of fibres over the base (KHR_materials_sheen). Functions of a lobe: see viewer/materials/lobes.py.
#include "materials/lobes/base.glsl"
#include "materials/sheen.glsl"

struct Fibres {
    vec3 color;
    float alpha, albedo, chance;
};

Fibres fibres_over(Base base, Interaction at, Principled own, bool front, vec3 wo, inout float under) {
    Fibres found;
    found.color = own.sheen_color * under;
    found.alpha = sheen_alpha(own.sheen_roughness);
    found.albedo = sheen_albedo(min(base.wo.z, 1.0), found.alpha);
    under *= sheen_scaling(own.sheen_color, found.albedo);
    found.chance = principled_mean(found.color) * min(found.albedo, 1.0);
    return found;
}

vec3 fibres_value(Base base, Fibres fibres, Microfacets facets, vec3 wi, vec3 far, out float pdf) {
    return fibres.color * sheen_value(base.wo, wi, fibres.alpha, fibres.albedo, pdf);
}

vec3 fibres_albedo(Base base, Fibres fibres) {
    return fibres.color * min(fibres.albedo, 1.0);
}

void fibres_branch(Base base, Fibres fibres, vec3 wo, inout vec3 reflection, inout vec3 refracted, inout vec3 refraction) {}

void fibres_facets(Fibres fibres, inout vec3 wo, inout vec2 alpha) {}

Way fibres_sample(Base base, Fibres fibres, vec3 wo, vec3 u, Way way) {
    way.local = sheen_sample(base.wo, u.xy);
    return way;
}

bool fibres_single(Principled own, inout float matte) {
    return principled_most(own.sheen_color) <= 0.0;
}
