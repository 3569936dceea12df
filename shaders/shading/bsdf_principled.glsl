// glTF's material: layers over a base that mixes metal, matte and transmitting dielectrics (glTF 2.0, appendix B, and its
// extensions). Lobes are those of shaders/materials/lobes/, in a frame about the shading normal on the side of wo; their
// sums are generated (viewer/materials/lobes.py). What the glossy base reflects is evaluated once for metal and dielectric, which share microfacets and differ in Fresnel's
// reflectance. Below path_smooth a lobe is a mirror, or a clear pane.
// How much light a layer leaves to those below follows from the direction of wo alone, so that no energy is lost; it is
// not reciprocal, as is Turquin's compensation.
#include "materials/lobes/base.glsl"
#include "shading/bsdf_side.glsl"

#ifdef HAVE_NORMAL
// The map's normal on the side of wo, bent towards wo where its mirror would send light below the surface, as far as the
// horizon: no rim is black. A. Keller et al., The Iray Light Transport Simulation and Rendering System (2017), appendix.
vec3 principled_bent(Interaction at, Principled material, vec3 wo) {
    float side = dot(at.shading, wo) >= 0.0 ? 1.0 : -1.0;
    vec3 normal = side * principled_mapped(at, material.normal);
    vec3 mirrored = 2.0 * dot(normal, wo) * normal - wo;
    float height = side * dot(at.shading, mirrored), upright = max(side * dot(at.shading, normal), 1e-3);
    vec3 level = normalize(mirrored - normal * (height / upright));
    vec3 bent = wo + level;
    return height < 0.0 ? bent * inversesqrt(max(dot(bent, bent), 1e-12)) : normal;
}

// How much of the light from wi a matte surface under a map gets: little where it just comes over the surface, which
// would cut it off at once. M. J. Chiang, Y. K. Li and B. Burley, Taming the Shadow Terminator (2019).
float principled_lit(vec3 shading, vec3 normal, vec3 wi) {
    float over = abs(dot(normal, wi) * dot(normal, shading));
    float share = clamp(abs(dot(shading, wi)) / max(over, 1e-6), 0.0, 1.0);
    return share * (1.0 + share * (1.0 - share));
}
#endif

#ifdef HAVE_DISPERSION
// Whether channels have indices of their own there.
bool principled_parts(Interaction at) {
#ifdef HAVE_NESTED
    if (medium_parts(interaction_outside(at))) return true;
#endif
    return fetch_principled(interaction_material(at)).half_spread > 0.0;
}

bool principled_whole(Interaction at) {
    return (interaction_channel(at) & 3) == 0 && principled_parts(at);
}
#endif

// The layers seen from wo, about the normal of the map.
Layers principled_seen_of(Interaction at, Principled material, vec3 wo) {
    bool front = dot(at.shading, wo) >= 0.0;
    vec3 normal = front ? at.shading : -at.shading;
#ifdef HAVE_NORMAL
    normal = principled_bent(at, material, wo);
#endif
    return principled_layers(at, material, normal, front, wo);
}

#ifdef HAVE_PREPARED
// Of the surface that a kernel works on, seen from where its path came from, which is all that kernels ask for: what
// follows from the interaction alone.
struct Seen {
    Principled material;
#ifdef HAVE_DISPERSION
    Layers layers, red, blue;  // red, blue: where channels have indices of their own; layers is then green's
#else
#ifndef HAVE_REMATERIALISED  // else they are derived where they are used
    Layers layers;
#endif
#endif
};

Seen principled_kept;

Seen principled_prepared(Interaction at) {
    Seen prepared;
#ifdef HAVE_DISPERSION
    bool whole = principled_whole(at);
    int channel = 1;
    do {
        if (whole) set_interaction_channel(at, channel);
        prepared.material = principled_at(at);
        Layers layers = principled_seen_of(at, prepared.material, at.wo);
        if (channel == 1) prepared.red = layers;
        if (channel == 2 || !whole) prepared.layers = layers;
        if (channel == 3 || !whole) prepared.blue = layers;
        channel += 1;
    } while (channel < (whole ? 4 : 2));
#else
    prepared.material = principled_at(at);
#ifndef HAVE_REMATERIALISED
    prepared.layers = principled_seen_of(at, prepared.material, at.wo);
#endif
#endif
    return prepared;
}

Layers principled_seen(Interaction at, vec3 wo) {
#ifdef HAVE_DISPERSION
    Layers layers = principled_kept.layers;
    int channel = interaction_channel(at) & 3;
    if (channel == 1) layers = principled_kept.red;
    if (channel == 3) layers = principled_kept.blue;
    return layers;
#else
#ifdef HAVE_REMATERIALISED
    return principled_seen_of(at, principled_kept.material, wo);
#else
    return principled_kept.layers;
#endif
#endif
}

// But for its index, which channels may have of their own.
Principled principled_material(Interaction at) {
    return principled_kept.material;
}
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
#ifdef HAVE_NORMAL
    float lit = dot(layers.base.normal, wi) > 0.0 ? max(principled_lit(at.shading, layers.base.normal, wi), 1e-6) : 1.0;
    layers.base.diffuse *= lit;
    layers.base.through *= lit;
#endif
    vec3 value = principled_lobes(layers, base_local(layers.base, wi), wi, pdf);
    bool above = reflects(at, wo, wi), below = false;
#ifdef HAVE_BELOW
    below = dot(at.normal, wo) * dot(at.normal, wi) < 0.0 && dot(at.shading, wo) * dot(at.shading, wi) < 0.0;
#endif
    return above || below ? value : vec3(0.0);
}

vec3 principled_evaluate(Interaction at, vec3 wo, vec3 wi, out float pdf) {
#ifdef HAVE_DISPERSION
    // Of light of all channels each is scattered by its own index.
    bool whole = principled_whole(at);
    vec3 value = vec3(0.0);
    int channel = 1;
    pdf = 0.0;
    do {
        float density;
        if (whole) set_interaction_channel(at, channel);
        vec3 scattered = principled_scattered(at, principled_seen(at, wo), wo, wi, density);
        value += whole ? scattered * vec3(equal(ivec3(1, 2, 3), ivec3(channel))) : scattered;
        pdf += whole ? 0.33333333 * density : density;
        channel += 1;
    } while (channel < (whole ? 4 : 2));
    return value;
#else
    return principled_scattered(at, principled_seen(at, wo), wo, wi, pdf);
#endif
}

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
    bool single = principled_single(material, at.albedo);
#ifdef HAVE_ANISOTROPY
    single = single && material.anisotropy < 0.3;
#endif
#ifdef HAVE_UNLIT
    single = single || material.unlit == 1;
#endif
    return single;
}

float principled_index(Interaction at) {
    float index = 1.0;
#ifdef HAVE_REFRACTION
    Principled material = principled_material(at);
    if (material.thickness > 0.0 && material.transmission > 0.0) index = principled_seen(at, at.wo).base.ior;
#endif
    return index;
}

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

void principled_branches(
    Interaction at, vec3 wo, out vec3 reflected, out vec3 reflection, out vec3 refracted, out vec3 refraction
) {
#ifdef HAVE_DISPERSION
    // Of light of all channels each is reflected in its own share, and all are refracted as green.
    bool whole = principled_whole(at);
    vec3 shares = vec3(0.0);
    int iteration = 1;
    do {
        int channel = 1 + (2 * iteration - 2) % 3;  // red, blue, green
        if (whole) set_interaction_channel(at, channel);
        principled_branch(at, wo, reflected, reflection, refracted, refraction);
        shares += whole ? reflection * vec3(equal(ivec3(1, 2, 3), ivec3(channel))) : reflection;
        iteration += 1;
    } while (iteration < (whole ? 4 : 2));
    reflection = shares;
#else
    principled_branch(at, wo, reflected, reflection, refracted, refraction);
#endif
}

bool principled_sample(Interaction at, vec3 wo, vec3 u, out vec3 wi, out vec3 weight, out float pdf) {
    Interaction original = at;
#ifdef HAVE_DISPERSION
    // Light of all channels takes the direction of one of them, and so does what of it is reflected or refracted in one
    // direction: with three times the weight.
    bool whole = principled_whole(at);
    if (whole) {
        float three = 3.0 * u.z;
        set_interaction_channel(at, 1 + min(int(three), 2));
        u.z = min(fract(three), 0.99999994);
    }
#endif
    Layers layers = principled_seen(at, wo);
    LobeSample lobe;
    bool valid = principled_sample_lobe(at, layers, wo, u, lobe) && dot(lobe.local, lobe.local) > 0.0;
    wi = lobe.wi;
    weight = lobe.single;
    pdf = 0.0;
#ifdef HAVE_DISPERSION
    if (whole) weight *= 3.0 * vec3(equal(ivec3(1, 2, 3), ivec3(interaction_channel(at))));
    vec3 straight = wi;
    if (interaction_channel(original) >= 4) {  // it is decided
        vec3 back, on, through;
        principled_branch(at, wo, straight, back, through, on);
        bool refracts = (interaction_channel(original) & 4) != 0;
        straight = refracts ? through : straight;
        weight = refracts ? on / max(1.0 - back, vec3(1e-20)) : vec3(1.0);
        lobe.delta = true;
    }
#else
    if (lobe.delta) return any(greaterThan(weight, vec3(0.0)));
#endif
    vec3 away = lobe.right * lobe.local.x + lobe.up * lobe.local.y + lobe.normal * lobe.local.z;
    wi = normalize(valid ? away : wo);
#ifdef HAVE_DISPERSION
    vec3 value = principled_evaluate(original, wo, wi, pdf);
    if (lobe.delta) {  // here, since loops of a shader must not follow a return
        wi = straight;
        pdf = 0.0;
        return any(greaterThan(weight, vec3(0.0)));
    }
#else
    vec3 value = principled_scattered(at, layers, wo, wi, pdf);
#endif
    weight = value / max(pdf, 1e-30);
    return valid && pdf > 0.0 && any(greaterThan(value, vec3(0.0)));
}
