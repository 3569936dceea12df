// glTF's material: layers over a base that mixes metal, matte and transmitting dielectrics (glTF 2.0, appendix B, and its
// extensions). Lobes are those of shaders/materials/lobes/, in a frame about the shading normal on the side of wo; their
// sums are generated (viewer/materials/bsdf.py). What the glossy base reflects is evaluated once for metal and
// dielectric, which share microfacets and differ in Fresnel's reflectance. Below path_smooth a lobe is a mirror, or a clear
// pane.
// How much light a layer leaves to those below follows from the direction of wo alone, so that no energy is lost; it is
// not reciprocal, as is Turquin's compensation.
// What goes by channels of light is in principled_whole.glsl, or principled_parted.glsl.
#include "materials/lobes/base.glsl"
#include "shading/bsdf_side.glsl"

// The layers seen from wo, about the normal of the map.
Layers principled_seen_of(Interaction at, Principled material, vec3 wo) {
    return principled_layers(at, material, principled_normal(at, material, wo), dot(at.shading, wo) >= 0.0, wo);
}

// Those of the surface that is asked about; and its material but for its index, which channels may have of their own.
#ifdef HAVE_PREPARED
Layers principled_seen(Interaction at, vec3 wo);
Principled principled_material(Interaction at);
#else
Layers principled_seen(Interaction at, vec3 wo) {
    return principled_seen_of(at, principled_at(at), wo);
}

Principled principled_material(Interaction at) {
    return principled_at(at);
}
#endif

// All that has a density, times the cosine.
vec3 principled_scattered(Interaction at, Layers layers, vec3 wo, vec3 wi, out float pdf) {
    principled_soften(at.shading, layers.base.normal, wi, layers.base.diffuse, layers.base.through);
    vec3 value = principled_lobes(layers, base_local(layers.base, wi), wi, pdf);
    bool is_transmitted = dot(at.normal, wo) * dot(at.normal, wi) < 0.0 && dot(at.shading, wo) * dot(at.shading, wi) < 0.0;
    return reflects(at, wo, wi) || (LOBES_BELOW == 1 && is_transmitted) ? value : vec3(0.0);
}

// Of light of all channels, where they have indices of their own each by its own.
vec3 principled_evaluate(Interaction at, vec3 wo, vec3 wi, out float pdf);

vec3 principled_value(Interaction at, vec3 wo, vec3 wi) {
    float pdf;
    return principled_evaluate(at, wo, wi, pdf);
}

float principled_pdf(Interaction at, vec3 wo, vec3 wi) {
    float pdf;
    principled_evaluate(at, wo, wi, pdf);
    return pdf;
}

vec3 principled_reflectance(Interaction at) {
    return principled_albedo(principled_seen(at, at.wo));
}

// By the parameters alone: whether anything matte or glossy is left.
bool principled_delta(Interaction at) {
    Principled material = principled_material(at);
    return (principled_single(material, at.albedo) && anisotropy_small(material)) || principled_unlit(material);
}

float principled_index(Interaction at) {
    float index = 1.0;
    if (principled_refracts(principled_material(at))) index = principled_seen(at, at.wo).base.ior;
    return index;
}

// The single directions and weights of what smooth layers reflect and let through.
void principled_branch(
    Interaction at, vec3 wo, out vec3 reflected, out vec3 reflection, out vec3 refracted, out vec3 refraction
) {
    Layers layers = principled_seen(at, wo);
    reflected = principled_mirrored(at, layers.base.normal, wo);
    reflection = layers.base.single ? layers.base.gloss : vec3(0.0);
    refracted = -wo;
    refraction = vec3(0.0);
    principled_singles(layers, wo, reflection, refracted, refraction);
}

// A direction: with a density, where it is valid and of no single lobe, else single.
bool principled_draw(Interaction at, Layers layers, vec3 wo, vec3 u, out LobeSample lobe, out vec3 wi) {
    bool valid = principled_sample_lobe(at, layers, wo, u, lobe) && dot(lobe.local, lobe.local) > 0.0;
    vec3 lobe_direction = lobe.right * lobe.local.x + lobe.up * lobe.local.y + lobe.normal * lobe.local.z;
    wi = normalize(valid ? lobe_direction : wo);
    return valid;
}
