// glTF's material: layers over a base that mixes metal and dielectric (glTF 2.0, appendix B; its extensions). Lobes are
// evaluated in a frame about the shading normal on the side of wo, which this file turns to and from the world. What the
// glossy base reflects is evaluated once for metal and dielectric, which share microfacets and differ in Fresnel's
// reflectance. Below path_smooth a lobe is a mirror.
// The scaling of what lies below a layer follows from the direction of wo alone, so that layers lose no energy; it is not
// reciprocal, as is Turquin's compensation.
#include "interface/path.glsl"
#include "lib/hemisphere.glsl"
#include "materials/fresnel.glsl"
#include "materials/ggx.glsl"
#include "materials/metal.glsl"
#include "materials/specular.glsl"
#include "shading/bsdf_side.glsl"

struct Layers {
    vec3 right, up, normal;  // the frame, world space
    vec3 wo;                 // in it
    vec2 alpha;
    bool smooth_base;
    float metallic;
    float ior;
    vec3 color;              // of metal straight on
    vec3 f0, f90;            // of the dielectric
    float albedo;            // of GGX, seen from wo
    vec3 gloss;              // what the glossy base reflects in all, and
    vec3 diffuse;            // the matte one below it
    float glossy, matte;     // chances to be chosen
};

float principled_mean(vec3 color) {
    return dot(color, vec3(0.33333333));
}

Layers principled_layers(Interaction at, vec3 wo) {
    Principled own = principled_at(at);
    Layers found;
    found.normal = dot(at.shading, wo) < 0.0 ? -at.shading : at.shading;
    frame_around(found.normal, found.right, found.up);
    found.wo = vec3(dot(wo, found.right), dot(wo, found.up), max(dot(wo, found.normal), 1e-4));
    found.alpha = ggx_alpha(own.roughness);
    found.smooth_base = own.roughness < path_smooth;
    found.metallic = clamp(own.metallic, 0.0, 1.0);
    found.color = at.albedo;
    found.ior = own.ior;
    found.f90 = vec3(1.0);
    found.f0 = vec3(fresnel_f0(own.ior));
#ifdef HAVE_SPECULAR
    found.f90 = vec3(own.specular_factor);
    found.f0 = min(found.f0 * own.specular_color, vec3(1.0)) * own.specular_factor;
#endif
    float behind, cosine = min(found.wo.z, 1.0);
    found.albedo = ggx_albedo(cosine, found.alpha);
    vec3 metal = vec3(0.0), dielectric = vec3(0.0);
#ifdef HAVE_METAL
    metal = metal_albedo(cosine, at.albedo, vec3(1.0), found.albedo);
    if (found.smooth_base) metal = fresnel_schlick(cosine, at.albedo, vec3(1.0));
#endif
#ifdef HAVE_DIELECTRIC
    float rise = rise_albedo(cosine, found.alpha, own.ior);
    dielectric = specular_albedo(found.f0, found.f90, found.albedo, rise);
    if (found.smooth_base) dielectric = fresnel_dielectric(cosine, own.ior, found.f0, found.f90, behind);
#endif
    found.gloss = mix(dielectric, metal, found.metallic);
    float most = max(dielectric.x, max(dielectric.y, dielectric.z));  // so that the base keeps its hue
    found.diffuse = at.albedo * ((1.0 - found.metallic) * (1.0 - most));
#ifdef HAVE_UNLIT
    if (own.unlit == 1) found.gloss = found.diffuse = vec3(0.0);
#endif
    found.glossy = principled_mean(found.gloss);
    found.matte = principled_mean(found.diffuse);
    float whole = 1.0 / max(found.glossy + found.matte, 1e-20);
    found.glossy *= whole;
    found.matte *= whole;
    return found;
}

vec3 principled_local(Layers layers, vec3 way) {
    return vec3(dot(way, layers.right), dot(way, layers.up), dot(way, layers.normal));
}

// All lobes that have a density, times the cosine, and their density, of a direction in the layers' frame.
vec3 principled_lobes(Layers layers, vec3 wi, out float pdf) {
    float matte = 0.31830989 * max(wi.z, 0.0);
    vec3 value = layers.diffuse * matte;
    pdf = layers.matte * matte;
    if (!layers.smooth_base) {
        vec3 h = layers.wo + wi;
        float cosine = dot(layers.wo, h) * inversesqrt(max(dot(h, h), 1e-36)), behind, density;
        float lobe = ggx_reflection(layers.wo, wi, layers.alpha, density);
        vec3 share = vec3(0.0);
#ifdef HAVE_METAL
        share = fresnel_schlick(cosine, layers.color, vec3(1.0)) * ggx_compensation(layers.color, layers.albedo);
        share *= layers.metallic;
#endif
#ifdef HAVE_DIELECTRIC
        vec3 dielectric = fresnel_dielectric(cosine, layers.ior, layers.f0, layers.f90, behind);
        share += dielectric * ggx_compensation(layers.f0, layers.albedo) * (1.0 - layers.metallic);
#endif
        value += share * lobe;
        pdf += layers.glossy * density;
    }
    return value;
}

vec3 principled_value(Interaction at, vec3 wo, vec3 wi) {
    Layers layers = principled_layers(at, wo);
    float pdf;
    vec3 value = principled_lobes(layers, principled_local(layers, wi), pdf);
    return reflects(at, wo, wi) ? value : vec3(0.0);
}

float principled_pdf(Interaction at, vec3 wo, vec3 wi) {
    Layers layers = principled_layers(at, wo);
    float pdf;
    principled_lobes(layers, principled_local(layers, wi), pdf);
    return dot(at.shading, wo) * dot(at.shading, wi) > 0.0 ? pdf : 0.0;
}

vec3 principled_reflectance(Interaction at) {
    Layers layers = principled_layers(at, at.wo);
    return layers.diffuse + (layers.smooth_base ? vec3(0.0) : layers.gloss);
}

bool principled_delta(Interaction at) {
    Layers layers = principled_layers(at, at.wo);
    return layers.smooth_base && layers.matte <= 0.0;
}

float principled_index(Interaction at) {
    return 1.0;
}

// The direction of a mirror, on the surface's own side: where only the shading normal allows it, its image in the surface.
vec3 principled_mirrored(Interaction at, Layers layers, vec3 wo) {
    vec3 wi = 2.0 * dot(layers.normal, wo) * layers.normal - wo;
    float under = dot(at.normal, wi);
    if (under * dot(at.normal, wo) < 0.0) wi -= 2.0 * under * at.normal;
    return normalize(wi);
}

void principled_branches(
    Interaction at, vec3 wo, out vec3 reflected, out vec3 reflection, out vec3 refracted, out vec3 refraction
) {
    Layers layers = principled_layers(at, wo);
    reflected = principled_mirrored(at, layers, wo);
    reflection = layers.smooth_base ? layers.gloss : vec3(0.0);
    refracted = -wo;
    refraction = vec3(0.0);
}

bool principled_sample(Interaction at, vec3 wo, vec3 u, out vec3 wi, out vec3 weight, out float pdf) {
    Layers layers = principled_layers(at, wo);
    bool gloss = u.z < layers.glossy;
    vec3 local = gloss ? ggx_reflection_sample(layers.wo, u.xy, layers.alpha) : cosine_direction(u.xy);
    wi = normalize(layers.right * local.x + layers.up * local.y + layers.normal * local.z);
    vec3 value = principled_lobes(layers, local, pdf);
    weight = value / max(pdf, 1e-30);
    bool single = gloss && layers.smooth_base;
    if (single) {
        wi = principled_mirrored(at, layers, wo);
        weight = layers.gloss / max(layers.glossy, 1e-30);
        pdf = 0.0;
    }
    return single || (pdf > 0.0 && reflects(at, wo, wi));
}
