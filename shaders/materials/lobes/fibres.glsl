// The sheen of fibres over the base (KHR_materials_sheen). Functions of a lobe: see viewer/materials/bsdf.py.
#include "materials/lobes/base.glsl"
#include "materials/sheen.glsl"

struct Fibres {
    vec3 color;
    float alpha, albedo, chance;
};

// The sheen seen from wo; under: the share of light that layers leave to those below, which it reduces.
Fibres fibres_over(Base base, Interaction at, Principled material, bool front, vec3 wo, inout float under) {
    Fibres fibres;
    fibres.color = material.sheen_color * under;
    fibres.alpha = sheen_alpha(material.sheen_roughness);
    fibres.albedo = sheen_albedo(min(base.wo.z, 1.0), fibres.alpha);
    under *= sheen_scaling(material.sheen_color, fibres.albedo);
    fibres.chance = principled_mean(fibres.color) * min(fibres.albedo, 1.0);
    return fibres;
}

vec3 fibres_value(Base base, Fibres fibres, Microfacets facets, vec3 wi, vec3 wi_world, out float pdf) {
    return fibres.color * sheen_value(base.wo, wi, fibres.alpha, fibres.albedo, pdf);
}

vec3 fibres_albedo(Base base, Fibres fibres) {
    return fibres.color * min(fibres.albedo, 1.0);
}

void fibres_branch(Base base, Fibres fibres, vec3 wo, inout vec3 reflection, inout vec3 refracted, inout vec3 refraction) {}

void fibres_facets(Fibres fibres, inout vec3 wo, inout vec2 alpha) {}

LobeSample fibres_sample(Base base, Fibres fibres, vec3 wo, vec3 u, LobeSample lobe) {
    lobe.local = sheen_sample(base.wo, u.xy);
    return lobe;
}

bool fibres_single(Principled material, inout float matte) {
    return principled_most(material.sheen_color) <= 0.0;
}
