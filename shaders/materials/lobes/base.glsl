// The base of glTF's material under its layers, seen from one side: its frame, what metal and dielectric reflect together,
// and what is matte below. Every lobe works in its terms.
#include "interface/path.glsl"
#include "lib/hemisphere.glsl"
#include "materials/diffuse.glsl"
#include "materials/fresnel.glsl"
#include "materials/ggx.glsl"
#include "materials/metal.glsl"
#include "materials/specular.glsl"
#ifdef HAVE_IRIDESCENCE
#include "materials/lobes/film.glsl"
#else
#include "materials/lobes/film_none.glsl"
#endif

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
struct Way {
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

#ifdef HAVE_MAPS
// The normal of a map, world space, on the front side; texel: in its space.
vec3 principled_mapped(Interaction at, vec3 texel) {
    vec3 along, upwards;
    interaction_tangents(at, along, upwards);
    return normalize(along * texel.x + upwards * texel.y + at.shading * texel.z);
}
#endif

// The direction of a mirror, on the surface's own side: where only the shading normal allows it, its image in the surface.
vec3 principled_mirrored(Interaction at, vec3 normal, vec3 wo) {
    vec3 wi = 2.0 * dot(normal, wo) * normal - wo;
    float under = dot(at.normal, wi);
    if (under * dot(at.normal, wo) < 0.0) wi -= 2.0 * under * at.normal;
    return normalize(wi);
}

vec3 base_local(Base base, vec3 way) {
    return vec3(dot(way, base.right), dot(way, base.up), dot(way, base.normal));
}

// The frame about a normal on the side of wo.
Base base_frame(Interaction at, Principled own, vec3 normal, vec3 wo) {
    Base found;
    found.normal = normal;
    frame_around(found.normal, found.right, found.up);
    found.alpha = ggx_alpha(own.roughness);
#ifdef HAVE_ANISOTROPY
    vec3 along, upwards;
    interaction_tangents(at, along, upwards);
    vec2 axis = own.anisotropy_axis;
    vec3 way = along * axis.x + upwards * axis.y;
    way -= found.normal * dot(way, found.normal);
    if (own.anisotropy > 0.0 && dot(way, way) > 1e-12) {
        found.right = normalize(way);
        found.up = cross(found.normal, found.right);
        found.alpha = ggx_alpha_anisotropic(own.roughness, own.anisotropy);
    }
#endif
    found.wo = vec3(dot(wo, found.right), dot(wo, found.up), max(dot(wo, found.normal), 1e-4));
    found.single = own.roughness < path_smooth && found.alpha.x < 0.1;
    return found;
}

// What metal and dielectric reflect; under: what layers leave to them.
void base_reflection(inout Base base, Interaction at, Principled own, float under) {
    float cosine = min(base.wo.z, 1.0), behind, rise = 0.0;
    base.metallic = clamp(own.metallic, 0.0, 1.0) * under;
    base.opaque = under - base.metallic;
    base.color = at.albedo;
    base.ior = own.ior;
    base.f90 = vec3(1.0);
    base.f0 = vec3(fresnel_f0(own.ior));
#ifdef HAVE_SPECULAR
    base.f90 = vec3(own.specular_factor);
    base.f0 = min(base.f0 * own.specular_color, vec3(1.0)) * own.specular_factor;
#endif
    base.albedo = ggx_albedo(cosine, base.alpha);
    base.gloss = vec3(0.0);
    base.compensation = metal_compensation(base.color, base.albedo, base.alpha);
    base.compensation_dielectric = ggx_compensation(base.f0, base.albedo);
    base.film = film_of(own);
    vec3 metal = vec3(0.0), dielectric = vec3(0.0);
#ifdef HAVE_METAL
    metal = fresnel_schlick(cosine, base.color, vec3(1.0));
#endif
#ifdef HAVE_DIELECTRIC
    rise = rise_albedo(cosine, base.alpha, own.ior);
    if (base.single) dielectric = fresnel_dielectric(cosine, own.ior, base.f0, base.f90, behind);
    else dielectric = specular_albedo(base.f0, base.f90, base.albedo, rise);
#endif
    film_albedo(
        base.film, base.metallic, base.color, base.f0, cosine, base.single, own.ior, base.albedo, rise, metal, dielectric
    );
#ifdef HAVE_METAL
    if (!base.single) metal *= base.compensation * base.albedo;
    base.gloss += metal * base.metallic;
#endif
    base.dielectric = dielectric;
}

// What is left below; and the chances of both, not yet in sum 1.
void base_matte(inout Base base, Interaction at, Principled own) {
    base.gloss += base.dielectric * base.opaque;
    // By the largest, so that the base keeps its hue.
    float below = base.opaque * (1.0 - principled_most(base.dielectric));
    base.diffuse = at.albedo * below;
    base.through = vec3(0.0);
#ifdef HAVE_DIFFUSE_TRANSMISSION
    base.diffuse *= 1.0 - own.diffuse_transmission;
    base.through = own.diffuse_transmission_color * own.diffuse_transmission;
    base.through *= below;
#endif
#ifdef HAVE_UNLIT
    float lit = own.unlit == 1 ? 0.0 : 1.0;
    base.gloss *= lit;
    base.diffuse *= lit;
    base.metallic *= lit;
    base.opaque *= lit;
#endif
    base.glossy = principled_mean(base.gloss);
    base.matte = principled_mean(base.diffuse + base.through);
}

// What a microfacet of the glossy base reflects, compensated, by the shares of metal and dielectric.
vec3 principled_facet(Base base, Microfacets facets) {
    float cosine = facets.cosine;
    vec3 share = vec3(0.0), metal = vec3(0.0), dielectric = facets.dielectric;
#ifdef HAVE_METAL
    metal = fresnel_schlick(cosine, base.color, vec3(1.0));
#endif
    film_facet(base.film, base.metallic, base.color, base.f0, cosine, metal, dielectric);
#ifdef HAVE_METAL
    share += metal * base.compensation * base.metallic;
#endif
#ifdef HAVE_DIELECTRIC
    share += dielectric * base.compensation_dielectric * base.opaque;
#endif
    return share;
}

Microfacets base_facets(Base base, vec3 wi) {
    Microfacets found;
    vec3 above = vec3(wi.xy, abs(wi.z)), h = base.wo + above;
    found.cosine = dot(base.wo, h) * inversesqrt(max(dot(h, h), 1e-36));
    found.lobe = ggx_reflection(base.wo, above, base.alpha, found.density);
    found.dielectric = vec3(0.0);
#ifdef HAVE_DIELECTRIC
    float behind;
    found.dielectric = fresnel_dielectric(found.cosine, base.ior, base.f0, base.f90, behind);
#endif
    return found;
}

// Value and density of both, of a direction in the frame.
vec3 base_value(Base base, Microfacets facets, vec3 wi, out float pdf) {
    float density;
    vec3 value = diffuse_value(wi, base.diffuse, base.through, density);
    pdf = base.matte * density;
    if (!base.single) {
        float over = float(wi.z > 0.0);
        value += principled_facet(base, facets) * (over * facets.lobe);
        pdf += base.glossy * (over * facets.density);
    }
    return value;
}

Way glossy_sample(Base base, Way way) {
    way.delta = way.mirrors = base.single;
    way.single = base.gloss / base.glossy;
    return way;
}

// One more of several things that u chooses among in proportion to their chances, while left; u is renewed by the choice.
bool principled_choose(float chance, inout bool left, inout float u) {
    bool chosen = left && u < chance;
    if (left) u = chosen ? u / chance : u - chance;
    left = left && !chosen;
    return chosen;
}
