// A clear coat over all else (KHR_materials_clearcoat), with a normal of its own. Functions of a lobe: see
// viewer/materials/lobes.py.
#include "materials/clearcoat.glsl"
#include "materials/lobes/base.glsl"

struct Coat {
    vec3 right, up, normal, wo;
    vec2 alpha;
    bool single;
    float share, albedo, chance;  // albedo: of its GGX
    float gloss;                  // what it reflects in all
};

Coat coat_over(Base base, Interaction at, Principled own, bool front, vec3 wo, inout float under) {
    Coat found;
    vec3 normal = at.shading;
    float behind;
#ifdef HAVE_CLEARCOAT_NORMAL
    normal = principled_mapped(at, own.clearcoat_normal);
#endif
    found.normal = front ? normal : -normal;
    frame_around(found.normal, found.right, found.up);
    found.wo = vec3(dot(wo, found.right), dot(wo, found.up), clamp(dot(wo, found.normal), 1e-4, 1.0));
    found.alpha = ggx_alpha(own.clearcoat_roughness);
    found.single = own.clearcoat_roughness < path_smooth;
    found.share = own.clearcoat;
    found.albedo = ggx_albedo(found.wo.z, found.alpha);
    found.gloss = clearcoat_albedo(found.albedo, rise_albedo(found.wo.z, found.alpha, CLEARCOAT_INDEX));
    if (found.single) found.gloss = fresnel_dielectric(found.wo.z, CLEARCOAT_INDEX, vec3(0.04), vec3(1.0), behind).x;
    found.gloss *= found.share;
    found.chance = found.gloss;
    under *= 1.0 - found.gloss;
    return found;
}

vec3 coat_value(Base base, Coat coat, Microfacets facets, vec3 wi, vec3 far, out float pdf) {
    pdf = 0.0;
    if (coat.single) return vec3(0.0);
    vec3 local = vec3(dot(far, coat.right), dot(far, coat.up), dot(far, coat.normal));
    return vec3(coat.share * clearcoat_value(coat.wo, local, coat.alpha, coat.albedo, pdf));
}

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

Way coat_sample(Base base, Coat coat, vec3 wo, vec3 u, Way way) {
    way.right = coat.right;
    way.up = coat.up;
    way.normal = coat.normal;
    way.delta = way.mirrors = coat.single;
    way.single = vec3(coat.gloss / coat.chance);
    return way;
}

bool coat_single(Principled own, inout float matte) {
    return own.clearcoat_roughness < path_smooth || own.clearcoat <= 0.0;
}
