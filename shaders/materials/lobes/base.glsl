// The base of glTF's material under its layers, seen from one side: its frame, what metal and dielectric reflect together,
// and what is matte below. Every lobe works in its terms. Its parts are modules, each there or not (viewer/materials/bsdf.py).
#include "interface/path.glsl"
#include "lib/hemisphere.glsl"
#include "materials/diffuse.glsl"
#include "materials/fresnel.glsl"
#include "materials/ggx.glsl"
#include "materials/metal.glsl"
#include "materials/specular.glsl"

struct Base {
    vec3 right, up, normal;     // the frame, world space
    vec3 wo;                    // in it
    vec2 alpha;
    bool single;                // it is smooth
    float metallic, opaque;     // shares of metal and of the dielectric that lets nothing through; less under layers
    float ior;
    vec3 color;                 // of metal straight on
    vec3 f0, f90;               // of the dielectric
    vec3 dielectric;            // what the dielectric reflects in all
    float albedo;               // of GGX, seen from wo
    vec3 gloss;                 // what the glossy base reflects in all
    vec3 diffuse, through;      // albedos of the matte base below it, of either side
    float glossy, matte;        // chances to be chosen
    vec3 compensation;          // of metal, and
    vec3 compensation_dielectric;
    ThinFilm film;
};

// Reflection by the base's microfacets into a direction, or into its image above the base; of the base and of a thin wall.
struct Microfacets {
    float cosine;               // to the half vector
    float lobe, density;        // of a Fresnel reflectance of 1: ggx_reflection
    vec3 dielectric;            // the dielectric's Fresnel reflectance, without a film
};

// A direction that a lobe chooses: in a frame, or a single one of the world with its weight. A lobe of microfacets finds in
// local the direction that ggx_reflection_sample gives it, which is in the source once.
struct LobeSample {
    vec3 local;                 // zero: absorbed
    vec3 right, up, normal;     // the frame, world space
    bool delta;
    bool mirrors;               // where it is single: about the frame's normal, else
    vec3 wi, single;            // this direction; the weight
};

float principled_mean(vec3 color) {
    return dot(color, vec3(0.33333333));
}

float principled_most(vec3 color) {
    return max(color.x, max(color.y, color.z));
}

// The direction of a mirror, on the surface's own side: where only the shading normal allows it, its image in the surface.
vec3 principled_mirrored(Interaction at, vec3 normal, vec3 wo) {
    vec3 wi = 2.0 * dot(normal, wo) * normal - wo;
    float below_surface = dot(at.normal, wi);
    if (below_surface * dot(at.normal, wo) < 0.0) wi -= 2.0 * below_surface * at.normal;
    return normalize(wi);
}

vec3 base_local(Base base, vec3 direction) {
    return vec3(dot(direction, base.right), dot(direction, base.up), dot(direction, base.normal));
}

// The frame about a normal on the side of wo.
Base base_frame(Interaction at, Principled material, vec3 normal, vec3 wo) {
    Base base;
    base.normal = normal;
    frame_around(base.normal, base.right, base.up);
    base.alpha = ggx_alpha(material.roughness);
    anisotropic_frame(at, material, base.normal, base.right, base.up, base.alpha);
    base.wo = vec3(dot(wo, base.right), dot(wo, base.up), max(dot(wo, base.normal), 1e-4));
    base.single = material.roughness < path_smooth && base.alpha.x < 0.1;
    return base;
}

// What metal and dielectric reflect; under: what layers leave to them.
void base_reflection(inout Base base, Interaction at, Principled material, float under) {
    float cosine = min(base.wo.z, 1.0), rise;
    base.metallic = clamp(material.metallic, 0.0, 1.0) * under;
    base.opaque = under - base.metallic;
    base.color = at.albedo;
    base.ior = material.ior;
    base.f90 = vec3(1.0);
    base.f0 = vec3(fresnel_f0(material.ior));
    specular_factors(material, base.f0, base.f90);
    base.albedo = ggx_albedo(cosine, base.alpha);
    base.compensation = metal_compensation(base.color, base.albedo, base.alpha);
    base.compensation_dielectric = ggx_compensation(base.f0, base.albedo);
    base.film = film_of(material);
    vec3 metal = metal_reflectance(cosine, base.color), f0 = base.f0, f90 = base.f90;
    vec3 dielectric = dielectric_albedo(cosine, base.alpha, material.ior, base.single, f0, f90, base.albedo, rise);
    film_albedo(
        base.film, base.metallic, base.color, base.f0, cosine, base.single, material.ior, base.albedo, rise, metal, dielectric
    );
    if (!base.single) metal *= base.compensation * base.albedo;
    base.gloss = metal_part(metal, base.metallic);
    base.dielectric = dielectric;
}

// What is left below; and the chances of both, not yet in sum 1.
void base_matte(inout Base base, Interaction at, Principled material) {
    base.gloss += base.dielectric * base.opaque;
    // By the largest, so that the base keeps its hue.
    float under_dielectric = base.opaque * (1.0 - principled_most(base.dielectric));
    base.diffuse = at.albedo * under_dielectric;
    base.through = leaf_through(material, under_dielectric, base.diffuse);
    if (principled_unlit(material)) base.gloss = base.diffuse = vec3(0.0), base.metallic = base.opaque = 0.0;
    base.glossy = principled_mean(base.gloss);
    base.matte = principled_mean(base.diffuse + base.through);
}

// What a microfacet of the glossy base reflects, compensated, by the shares of metal and dielectric.
vec3 principled_facet(Base base, Microfacets facets) {
    float cosine = facets.cosine;
    vec3 metal = metal_reflectance(cosine, base.color), dielectric = facets.dielectric;
    film_facet(base.film, base.metallic, base.color, base.f0, cosine, metal, dielectric);
    return metal_part(metal * base.compensation, base.metallic)
        + dielectric_part(dielectric * base.compensation_dielectric, base.opaque);
}

// The base's microfacets that reflect wo into a direction of its frame.
Microfacets base_facets(Base base, vec3 wi) {
    Microfacets facets;
    vec3 mirrored = vec3(wi.xy, abs(wi.z)), h = base.wo + mirrored;
    facets.cosine = dot(base.wo, h) * inversesqrt(max(dot(h, h), 1e-36));
    facets.lobe = ggx_reflection(base.wo, mirrored, base.alpha, facets.density);
    facets.dielectric = dielectric_reflectance(facets.cosine, base.ior, base.f0, base.f90);
    return facets;
}

// Value and density of both, of a direction in the frame.
vec3 base_value(Base base, Microfacets facets, vec3 wi, out float pdf) {
    float density;
    vec3 value = diffuse_value(wi, base.diffuse, base.through, density);
    pdf = base.matte * density;
    if (!base.single) {
        float is_above = float(wi.z > 0.0);
        value += principled_facet(base, facets) * (is_above * facets.lobe);
        pdf += base.glossy * (is_above * facets.density);
    }
    return value;
}

// The lobe, with the weight of a mirror where the base is smooth.
LobeSample glossy_sample(Base base, LobeSample lobe) {
    lobe.delta = lobe.mirrors = base.single;
    lobe.single = base.gloss / base.glossy;
    return lobe;
}

// One more of several things that u chooses among in proportion to their chances, while left; u is renewed by the choice.
bool principled_choose(float chance, inout bool left, inout float u) {
    bool chosen = left && u < chance;
    if (left) u = chosen ? u / chance : u - chance;
    left = left && !chosen;
    return chosen;
}
