// A clear coat over all else (KHR_materials_clearcoat), with a normal of its own. Functions of a lobe: see
// viewer/materials/bsdf.py.
#include "materials/clearcoat.glsl"
#include "materials/lobes/base.glsl"

struct Coat {
    vec3 right, up, normal, wo;
    vec2 alpha;
    bool single;
    float share, albedo, chance;  // albedo: of its GGX
    float gloss;                  // what it reflects in all
};

// The coat seen from wo; under: the share of light that layers leave to those below, which it reduces.
Coat coat_over(Base base, Interaction at, Principled material, bool front, vec3 wo, inout float under) {
    Coat coat;
    vec3 normal = coat_normal(at, material);
    float behind;
    coat.normal = front ? normal : -normal;
    frame_around(coat.normal, coat.right, coat.up);
    coat.wo = vec3(dot(wo, coat.right), dot(wo, coat.up), clamp(dot(wo, coat.normal), 1e-4, 1.0));
    coat.alpha = ggx_alpha(material.clearcoat_roughness);
    coat.single = material.clearcoat_roughness < path_smooth;
    coat.share = material.clearcoat;
    coat.albedo = ggx_albedo(coat.wo.z, coat.alpha);
    coat.gloss = clearcoat_albedo(coat.albedo, rise_albedo(coat.wo.z, coat.alpha, CLEARCOAT_INDEX));
    if (coat.single) coat.gloss = fresnel_dielectric(coat.wo.z, CLEARCOAT_INDEX, vec3(0.04), vec3(1.0), behind).x;
    coat.gloss *= coat.share;
    coat.chance = coat.gloss;
    under *= 1.0 - coat.gloss;
    return coat;
}

// The coat's part of the BSDF times the cosine; wi: in the base's frame, wi_world: in the world.
vec3 coat_value(Base base, Coat coat, Microfacets facets, vec3 wi, vec3 wi_world, out float pdf) {
    pdf = 0.0;
    if (coat.single) return vec3(0.0);
    vec3 local = vec3(dot(wi_world, coat.right), dot(wi_world, coat.up), dot(wi_world, coat.normal));
    return vec3(coat.share * clearcoat_value(coat.wo, local, coat.alpha, coat.albedo, pdf));
}

// The albedo of a rough coat; a mirror is no part of it, see coat_branch. base: as all lobes have it.
vec3 coat_albedo(Base base, Coat coat) {
    return vec3(coat.single ? 0.0 : coat.gloss);
}

void coat_branch(Base base, Coat coat, vec3 wo, inout vec3 reflection, inout vec3 refracted, inout vec3 refraction) {
    if (coat.single) reflection += coat.gloss;
}

void coat_facets(Coat coat, inout vec3 wo, inout vec2 alpha) {
    wo = coat.wo;
    alpha = coat.alpha;
}

// The frame in which the coat's direction is drawn, and its weight where it is a mirror.
LobeSample coat_sample(Base base, Coat coat, vec3 wo, vec3 u, LobeSample lobe) {
    lobe.right = coat.right;
    lobe.up = coat.up;
    lobe.normal = coat.normal;
    lobe.delta = lobe.mirrors = coat.single;
    lobe.single = vec3(coat.gloss / coat.chance);
    return lobe;
}

bool coat_single(Principled material, inout float matte) {
    return material.clearcoat_roughness < path_smooth || material.clearcoat <= 0.0;
}
