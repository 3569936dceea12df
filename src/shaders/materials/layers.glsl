// The layers of glTF's material, seen from one side, and what their lobes scatter that have a density; see
// shading/bsdf_principled.glsl.
#include "interface/path.glsl"
#include "lib/hemisphere.glsl"
#include "materials/diffuse.glsl"
#include "materials/fresnel.glsl"
#include "materials/ggx.glsl"
#include "materials/metal.glsl"
#include "materials/specular.glsl"
#ifdef HAVE_TRANSMISSION
#include "materials/thin_dielectric.glsl"
#endif
#ifdef HAVE_CLEARCOAT
#include "materials/clearcoat.glsl"
#endif
#ifdef HAVE_IRIDESCENCE
#include "materials/iridescence.glsl"
#endif
#ifdef HAVE_SHEEN
#include "materials/sheen.glsl"
#endif

struct Layers {
    vec3 right, up, normal;     // the frame, world space
    vec3 wo;                    // in it
    vec2 alpha;
    bool smooth_base;
    float metallic, opaque;     // shares of metal and of the dielectric that lets nothing through; less under layers
    float ior;
    vec3 color;                 // of metal straight on
    vec3 f0, f90;               // of the dielectric
    float albedo;               // of GGX, seen from wo
    vec3 gloss;                 // what the glossy base reflects in all
    vec3 diffuse, through;      // albedos of the matte base below it, of either side
    float glossy, matte;        // chances to be chosen
    vec3 compensation;          // of metal, and
    vec3 compensation_dielectric;
#ifdef HAVE_TRANSMISSION
    float clear, passing;       // the share of the dielectric that lets light through, and its chance
    float ratio;                // index on the other side / on the side of wo
    bool wall;                  // thin, without a volume
    vec3 tint;
#ifdef HAVE_VOLUME
    vec3 total;                 // of reflection and refraction, by single scattering
#endif
#endif
#ifdef HAVE_CLEARCOAT
    vec3 coat_right, coat_up, coat_normal, coat_wo;
    vec2 coat_alpha;
    bool smooth_coat;
    float coat, coat_albedo, coated;  // its share; of its GGX; its chance
    float coat_gloss;                 // what it reflects in all
#endif
#ifdef HAVE_IRIDESCENCE
    float iridescence, film, film_thickness;
#endif
#ifdef HAVE_SHEEN
    vec3 sheen;
    float sheen_alpha, sheen_albedo, fibres;  // its chance
#endif
};

float principled_mean(vec3 color) {
    return dot(color, vec3(0.33333333));
}

float principled_most(vec3 color) {
    return max(color.x, max(color.y, color.z));
}

vec3 principled_local(Layers layers, vec3 way) {
    return vec3(dot(way, layers.right), dot(way, layers.up), dot(way, layers.normal));
}

#ifdef HAVE_IRIDESCENCE
// Fresnel's reflectance under the film, of metal and of the dielectric. A loop, so that it is in the source once; of metal
// where there is some.
void principled_films(Layers layers, float cosine, out vec3 metal, out vec3 dielectric) {
    metal = dielectric = vec3(0.0);
    for (int k = layers.metallic > 0.0 ? 0 : 1; k < 2; k++) {
        vec3 below = k == 0 ? layers.color : layers.f0;
        vec3 found = iridescent_fresnel(cosine, 1.0, layers.film, layers.film_thickness, below);
        metal = k == 0 ? found : metal;
        dielectric = found;
    }
}
#endif

#ifdef HAVE_MAPS
// The normal of a map, world space, on the front side; texel: in its space.
vec3 principled_mapped(Interaction at, vec3 texel) {
    vec3 along, upwards;
    interaction_tangents(at, along, upwards);
    return normalize(along * texel.x + upwards * texel.y + at.shading * texel.z);
}
#endif

// Layers about a normal on the side of wo, seen from there; front: whether that is the surface's front.
Layers principled_layers(Interaction at, Principled own, vec3 normal, bool front, vec3 wo) {
    Layers found;
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
    found.smooth_base = own.roughness < path_smooth && found.alpha.x < 0.1;
    float under = 1.0, cosine = min(found.wo.z, 1.0), behind, rise;
#ifdef HAVE_CLEARCOAT
    vec3 coat_normal = at.shading;
#ifdef HAVE_CLEARCOAT_NORMAL
    coat_normal = principled_mapped(at, own.clearcoat_normal);
#endif
    found.coat_normal = front ? coat_normal : -coat_normal;
    frame_around(found.coat_normal, found.coat_right, found.coat_up);
    found.coat_wo = vec3(
        dot(wo, found.coat_right), dot(wo, found.coat_up), clamp(dot(wo, found.coat_normal), 1e-4, 1.0)
    );
    found.coat_alpha = ggx_alpha(own.clearcoat_roughness);
    found.smooth_coat = own.clearcoat_roughness < path_smooth;
    found.coat = own.clearcoat;
    found.coat_albedo = ggx_albedo(found.coat_wo.z, found.coat_alpha);
    rise = rise_albedo(found.coat_wo.z, found.coat_alpha, CLEARCOAT_INDEX);
    found.coat_gloss = clearcoat_albedo(found.coat_albedo, rise);
    if (found.smooth_coat) {
        found.coat_gloss = fresnel_dielectric(found.coat_wo.z, CLEARCOAT_INDEX, vec3(0.04), vec3(1.0), behind).x;
    }
    found.coat_gloss *= found.coat;
    under *= 1.0 - found.coat_gloss;
#endif
#ifdef HAVE_SHEEN
    found.sheen = own.sheen_color * under;
    found.sheen_alpha = sheen_alpha(own.sheen_roughness);
    found.sheen_albedo = sheen_albedo(cosine, found.sheen_alpha);
    under *= sheen_scaling(own.sheen_color, found.sheen_albedo);
    found.fibres = principled_mean(found.sheen) * min(found.sheen_albedo, 1.0);
#endif
    found.metallic = clamp(own.metallic, 0.0, 1.0) * under;
    found.opaque = under - found.metallic;
    found.color = at.albedo;
    found.ior = own.ior;
    found.f90 = vec3(1.0);
    found.f0 = vec3(fresnel_f0(own.ior));
#ifdef HAVE_SPECULAR
    found.f90 = vec3(own.specular_factor);
    found.f0 = min(found.f0 * own.specular_color, vec3(1.0)) * own.specular_factor;
#endif
    found.albedo = ggx_albedo(cosine, found.alpha);
    found.gloss = vec3(0.0);
    found.compensation = metal_compensation(found.color, found.albedo, found.alpha);
    found.compensation_dielectric = ggx_compensation(found.f0, found.albedo);
    vec3 metal = vec3(0.0), dielectric = vec3(0.0), film_metal, film;
#ifdef HAVE_IRIDESCENCE
    found.iridescence = own.iridescence;
    found.film = own.iridescence_ior;
    found.film_thickness = own.iridescence_thickness.x;
    principled_films(found, cosine, film_metal, film);
#endif
#ifdef HAVE_METAL
    metal = fresnel_schlick(cosine, at.albedo, vec3(1.0));
#ifdef HAVE_IRIDESCENCE
    metal = mix(metal, film_metal, found.iridescence);
#endif
    if (!found.smooth_base) metal *= found.compensation * found.albedo;
    found.gloss += metal * found.metallic;
#endif
#ifdef HAVE_DIELECTRIC
    rise = rise_albedo(cosine, found.alpha, own.ior);
    if (found.smooth_base) dielectric = fresnel_dielectric(cosine, own.ior, found.f0, found.f90, behind);
    else dielectric = specular_albedo(found.f0, found.f90, found.albedo, rise);
#ifdef HAVE_IRIDESCENCE
    if (!found.smooth_base) {
        vec3 straight = iridescent_f0(film, fresnel_rise(cosine, own.ior, behind));
        film = specular_albedo(straight, vec3(1.0), found.albedo, rise);
    }
    dielectric = mix(dielectric, film, found.iridescence);
#endif
#endif
#ifdef HAVE_TRANSMISSION
    found.clear = found.opaque * clamp(own.transmission, 0.0, 1.0);
    found.opaque -= found.clear;
    found.tint = at.albedo;
    found.wall = true;
#ifdef HAVE_VOLUME
    found.wall = own.thickness <= 0.0;
#endif
    found.ratio = found.wall || front ? own.ior : 1.0 / own.ior;
#ifdef HAVE_VOLUME
    float other = rise_albedo(cosine, found.alpha, found.ratio);
    float across = crossing_albedo(cosine, found.alpha, found.ratio);
    float across_rise = crossing_rise_albedo(cosine, found.alpha, found.ratio);
    found.total = rough_dielectric_total(found.ratio, found.f0, found.f90, found.albedo, other, across, across_rise);
#endif
    found.passing = found.clear * mix(1.0, principled_mean(found.tint), 0.9);
#endif
    found.gloss += dielectric * found.opaque;
    // By the largest, so that the base keeps its hue.
    vec3 matte = at.albedo * (found.opaque * (1.0 - principled_most(dielectric)));
    found.diffuse = matte;
    found.through = vec3(0.0);
#ifdef HAVE_DIFFUSE_TRANSMISSION
    found.diffuse *= 1.0 - own.diffuse_transmission;
    found.through = own.diffuse_transmission_color * own.diffuse_transmission;
    found.through *= found.opaque * (1.0 - principled_most(dielectric));
#endif
#ifdef HAVE_UNLIT
    float lit = own.unlit == 1 ? 0.0 : 1.0;
    found.gloss *= lit;
    found.diffuse *= lit;
    found.metallic *= lit;
    found.opaque *= lit;
#endif
    found.glossy = principled_mean(found.gloss);
    found.matte = principled_mean(found.diffuse + found.through);
    float whole = found.glossy + found.matte;
#ifdef HAVE_TRANSMISSION
    whole += found.passing;
#endif
#ifdef HAVE_CLEARCOAT
    found.coated = found.coat_gloss;
    whole += found.coated;
#endif
#ifdef HAVE_SHEEN
    whole += found.fibres;
#endif
    whole = whole > 0.0 ? 1.0 / whole : 0.0;
    found.glossy *= whole;
    found.matte *= whole;
#ifdef HAVE_TRANSMISSION
    found.passing *= whole;
#endif
#ifdef HAVE_CLEARCOAT
    found.coated *= whole;
#endif
#ifdef HAVE_SHEEN
    found.fibres *= whole;
#endif
    return found;
}

// What a microfacet of the glossy base reflects, compensated, by the shares of metal and dielectric.
vec3 principled_facet(Layers layers, float cosine) {
    float behind;
    vec3 share = vec3(0.0), metal, dielectric;
#ifdef HAVE_IRIDESCENCE
    vec3 film_metal, film;
    principled_films(layers, cosine, film_metal, film);
#endif
#ifdef HAVE_METAL
    metal = fresnel_schlick(cosine, layers.color, vec3(1.0));
#ifdef HAVE_IRIDESCENCE
    metal = mix(metal, film_metal, layers.iridescence);
#endif
    share += metal * layers.compensation * layers.metallic;
#endif
#ifdef HAVE_DIELECTRIC
    dielectric = fresnel_dielectric(cosine, layers.ior, layers.f0, layers.f90, behind);
#ifdef HAVE_IRIDESCENCE
    dielectric = mix(dielectric, film, layers.iridescence);
#endif
    share += dielectric * layers.compensation_dielectric * layers.opaque;
#endif
    return share;
}

// All lobes that have a density, times the cosine, and their density, of a direction in the layers' frame; far: the same
// in the world.
vec3 principled_lobes(Layers layers, vec3 wi, vec3 far, out float pdf) {
    float density;
    vec3 value = diffuse_value(wi, layers.diffuse, layers.through, density);
    pdf = layers.matte * density;
    if (!layers.smooth_base) {
        vec3 h = layers.wo + wi;
        float lobe = ggx_reflection(layers.wo, wi, layers.alpha, density);
        value += principled_facet(layers, dot(layers.wo, h) * inversesqrt(max(dot(h, h), 1e-36))) * lobe;
        pdf += layers.glossy * density;
#ifdef HAVE_TRANSMISSION
        float walled;
        vec3 wall = thin_dielectric_value(
            layers.wo, wi, layers.alpha, layers.ior, layers.f0, layers.f90, layers.tint, layers.albedo, walled
        );
#ifdef HAVE_VOLUME
        vec3 across = rough_dielectric_value(
            layers.wo, wi, layers.alpha, layers.ratio, layers.f0, layers.f90, layers.tint, layers.total, density
        );
        value += layers.clear * (layers.wall ? wall : across);
        pdf += layers.passing * (layers.wall ? walled : density);
#else
        value += layers.clear * wall;
        pdf += layers.passing * walled;
#endif
#endif
    }
#ifdef HAVE_CLEARCOAT
    if (!layers.smooth_coat) {
        vec3 coat_wi = vec3(dot(far, layers.coat_right), dot(far, layers.coat_up), dot(far, layers.coat_normal));
        value += layers.coat * clearcoat_value(layers.coat_wo, coat_wi, layers.coat_alpha, layers.coat_albedo, density);
        pdf += layers.coated * density;
    }
#endif
#ifdef HAVE_SHEEN
    value += layers.sheen * sheen_value(layers.wo, wi, layers.sheen_alpha, layers.sheen_albedo, density);
    pdf += layers.fibres * density;
#endif
    return value;
}
