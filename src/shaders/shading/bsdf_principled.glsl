// glTF's material: layers over a base that mixes metal, matte and transmitting dielectrics (glTF 2.0, appendix B, and its
// extensions). Lobes are those of shaders/materials/, in a frame about the shading normal on the side of wo. What the
// glossy base reflects is evaluated once for metal and dielectric, which share microfacets and differ in Fresnel's
// reflectance. Below path_smooth a lobe is a mirror, or a clear pane.
// How much light a layer leaves to those below follows from the direction of wo alone, so that no energy is lost; it is
// not reciprocal, as is Turquin's compensation.
#include "materials/layers.glsl"
#include "shading/bsdf_side.glsl"

// The direction of a mirror, on the surface's own side: where only the shading normal allows it, its image in the surface.
vec3 principled_mirrored(Interaction at, vec3 normal, vec3 wo) {
    vec3 wi = 2.0 * dot(normal, wo) * normal - wo;
    float under = dot(at.normal, wi);
    if (under * dot(at.normal, wo) < 0.0) wi -= 2.0 * under * at.normal;
    return normalize(wi);
}

#ifdef HAVE_TRANSMISSION
// Through a smooth surface: what is reflected, and where the rest goes.
vec3 principled_refracted(Layers layers, vec3 wo, out vec3 reflection, out vec3 refraction) {
    float behind, inverse = 1.0 / layers.ratio;
    reflection = fresnel_dielectric(layers.wo.z, layers.ratio, layers.f0, layers.f90, behind);
    refraction = layers.tint * (1.0 - reflection);
    if (layers.wall) return -wo;
    refraction *= behind > 0.0 ? inverse * inverse : 0.0;
    return normalize(layers.normal * (layers.wo.z * inverse - behind) - wo * inverse);
}
#endif

#ifdef HAVE_NORMAL
// The map's normal on the side of wo, bent towards wo where its mirror would send light below the surface, as far as the
// horizon: no rim is black. A. Keller et al., The Iray Light Transport Simulation and Rendering System (2017), appendix.
vec3 principled_bent(Interaction at, Principled own, vec3 wo) {
    float side = dot(at.shading, wo) >= 0.0 ? 1.0 : -1.0;
    vec3 normal = side * principled_mapped(at, own.normal);
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
Layers principled_seen_of(Interaction at, Principled own, vec3 wo) {
    bool front = dot(at.shading, wo) >= 0.0;
    vec3 normal = front ? at.shading : -at.shading;
#ifdef HAVE_NORMAL
    normal = principled_bent(at, own, wo);
#endif
    return principled_layers(at, own, normal, front, wo);
}

#ifdef HAVE_PREPARED
// Of the surface that a kernel works on, seen from where its path came from, which is all that kernels ask for: what
// follows from the interaction alone.
struct Seen {
    Principled own;
    Layers layers;
#ifdef HAVE_DISPERSION
    Layers red, blue;  // where channels have indices of their own; layers is then green's
#endif
};

Seen principled_kept;

Seen principled_prepared(Interaction at) {
    Seen found;
#ifdef HAVE_DISPERSION
    bool whole = principled_whole(at);
    int turn = 1;
    do {
        if (whole) set_interaction_channel(at, turn);
        found.own = principled_at(at);
        Layers layers = principled_seen_of(at, found.own, at.wo);
        if (turn == 1) found.red = layers;
        if (turn == 2 || !whole) found.layers = layers;
        if (turn == 3 || !whole) found.blue = layers;
        turn += 1;
    } while (turn < (whole ? 4 : 2));
#else
    found.own = principled_at(at);
    found.layers = principled_seen_of(at, found.own, at.wo);
#endif
    return found;
}

Layers principled_seen(Interaction at, vec3 wo) {
    Layers found = principled_kept.layers;
#ifdef HAVE_DISPERSION
    int channel = interaction_channel(at) & 3;
    if (channel == 1) found = principled_kept.red;
    if (channel == 3) found = principled_kept.blue;
#endif
    return found;
}

// But for its index, which channels may have of their own.
Principled principled_own(Interaction at) {
    return principled_kept.own;
}
#else
Layers principled_seen(Interaction at, vec3 wo) {
    return principled_seen_of(at, principled_at(at), wo);
}

Principled principled_own(Interaction at) {
    return principled_at(at);
}
#endif

// All that has a density, times the cosine.
vec3 principled_scattered(Interaction at, Layers layers, vec3 wo, vec3 wi, out float pdf) {
#ifdef HAVE_NORMAL
    float lit = dot(layers.normal, wi) > 0.0 ? max(principled_lit(at.shading, layers.normal, wi), 1e-6) : 1.0;
    layers.diffuse *= lit;
    layers.through *= lit;
#endif
    vec3 value = principled_lobes(layers, principled_local(layers, wi), wi, pdf);
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
    int turn = 1;
    pdf = 0.0;
    do {
        float density;
        if (whole) set_interaction_channel(at, turn);
        vec3 found = principled_scattered(at, principled_seen(at, wo), wo, wi, density);
        value += whole ? found * vec3(equal(ivec3(1, 2, 3), ivec3(turn))) : found;
        pdf += whole ? 0.33333333 * density : density;
        turn += 1;
    } while (turn < (whole ? 4 : 2));
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
    Layers layers = principled_seen(at, at.wo);
    vec3 found = layers.diffuse + (layers.smooth_base ? vec3(0.0) : layers.gloss);
#ifdef HAVE_TRANSMISSION
    if (!layers.smooth_base) found += layers.clear * 0.5 * (1.0 + layers.tint);
#endif
#ifdef HAVE_CLEARCOAT
    if (!layers.smooth_coat) found += layers.coat_gloss;
#endif
#ifdef HAVE_SHEEN
    found += layers.sheen * min(layers.sheen_albedo, 1.0);
#endif
    return found;
}

// By the parameters alone: whether anything matte or glossy is left.
bool principled_delta(Interaction at) {
    Principled own = principled_own(at);
    bool single = own.roughness < path_smooth;
    float matte = 1.0 - own.metallic;
#ifdef HAVE_TRANSMISSION
    matte *= 1.0 - own.transmission;
#endif
    single = single && matte * principled_most(at.albedo) <= 0.0;
#ifdef HAVE_ANISOTROPY
    single = single && own.anisotropy < 0.3;
#endif
#ifdef HAVE_CLEARCOAT
    single = single && (own.clearcoat_roughness < path_smooth || own.clearcoat <= 0.0);
#endif
#ifdef HAVE_SHEEN
    single = single && principled_most(own.sheen_color) <= 0.0;
#endif
#ifdef HAVE_UNLIT
    single = single || own.unlit == 1;
#endif
    return single;
}

float principled_index(Interaction at) {
    float index = 1.0;
#ifdef HAVE_TRANSMISSION
#ifdef HAVE_VOLUME
    Principled own = principled_own(at);
    if (own.thickness > 0.0 && own.transmission > 0.0) index = principled_seen(at, at.wo).ior;
#endif
#endif
    return index;
}

void principled_branch(
    Interaction at, vec3 wo, out vec3 reflected, out vec3 reflection, out vec3 refracted, out vec3 refraction
) {
    Layers layers = principled_seen(at, wo);
    reflected = principled_mirrored(at, layers.normal, wo);
    reflection = layers.smooth_base ? layers.gloss : vec3(0.0);
    refracted = -wo;
    refraction = vec3(0.0);
#ifdef HAVE_TRANSMISSION
    if (layers.smooth_base) {
        vec3 back, on;
        refracted = principled_refracted(layers, wo, back, on);
        reflection += layers.clear * back;
        refraction = layers.clear * on;
    }
#endif
#ifdef HAVE_CLEARCOAT
    if (layers.smooth_coat) reflection += layers.coat_gloss;
#endif
}

void principled_branches(
    Interaction at, vec3 wo, out vec3 reflected, out vec3 reflection, out vec3 refracted, out vec3 refraction
) {
#ifdef HAVE_DISPERSION
    // Of light of all channels each is reflected in its own share, and all are refracted as green.
    bool whole = principled_whole(at);
    vec3 shares = vec3(0.0);
    int turn = 1;
    do {
        int channel = 1 + (2 * turn - 2) % 3;  // red, blue, green
        if (whole) set_interaction_channel(at, channel);
        principled_branch(at, wo, reflected, reflection, refracted, refraction);
        shares += whole ? reflection * vec3(equal(ivec3(1, 2, 3), ivec3(channel))) : reflection;
        turn += 1;
    } while (turn < (whole ? 4 : 2));
    reflection = shares;
#else
    principled_branch(at, wo, reflected, reflection, refracted, refraction);
#endif
}

// One more of several things that u chooses among in proportion to their chances, from left on; u is renewed.
bool principled_choose(float chance, inout float left, inout float u) {
    bool chosen = u < chance && left >= 0.0;
    u = chosen ? u / chance : u - chance;
    left = chosen ? -1.0 : left;
    return chosen;
}

bool principled_sample(Interaction at, vec3 wo, vec3 u, out vec3 wi, out vec3 weight, out float pdf) {
    float left = 1.0, other = u.z;
    Interaction met = at;
#ifdef HAVE_DISPERSION
    // Light of all channels takes the way of one of them, and so does what of it is reflected or refracted in one
    // direction: with three times the weight.
    bool whole = principled_whole(at);
    if (whole) {
        float three = 3.0 * other;
        set_interaction_channel(at, 1 + min(int(three), 2));
        other = min(fract(three), 0.99999994);
    }
#endif
    Layers layers = principled_seen(at, wo);
    vec3 local = vec3(0.0, 0.0, 1.0), single = vec3(0.0);
    bool delta = false;
    wi = -wo;
    if (principled_choose(layers.glossy, left, other)) {
        local = ggx_reflection_sample(layers.wo, u.xy, layers.alpha);
        delta = layers.smooth_base;
        if (delta) {
            single = layers.gloss / layers.glossy;
            wi = principled_mirrored(at, layers.normal, wo);
        }
    }
    if (principled_choose(layers.matte, left, other)) {
        local = diffuse_sample(vec3(u.xy, other), layers.diffuse, layers.through);
    }
#ifdef HAVE_TRANSMISSION
    if (principled_choose(layers.passing, left, other)) {
        float last = min(other, 0.99999994);
        local = thin_dielectric_sample(
            layers.wo, vec3(u.xy, last), layers.alpha, layers.ior, layers.f0, layers.f90, layers.tint
        );
#ifdef HAVE_VOLUME
        vec3 across = rough_dielectric_sample(
            layers.wo, vec3(u.xy, last), layers.alpha, layers.ratio, layers.f0, layers.f90, layers.tint
        );
        if (!layers.wall) local = across;
#endif
        delta = layers.smooth_base;
        if (delta) {
            vec3 back, on, refracted = principled_refracted(layers, wo, back, on);
            float chance = reflecting_probability(back, layers.tint);
            bool mirrors = last < chance;
            wi = mirrors ? principled_mirrored(at, layers.normal, wo) : refracted;
            single = layers.clear / layers.passing * (mirrors ? back / chance : on / max(1.0 - chance, 1e-20));
        }
    }
#endif
#ifdef HAVE_CLEARCOAT
    bool coated = principled_choose(layers.coated, left, other);
    vec3 coat_local = clearcoat_sample(layers.coat_wo, u.xy, layers.coat_alpha);
    if (coated && layers.smooth_coat) {
        delta = true;
        single = vec3(layers.coat_gloss / layers.coated);
        wi = principled_mirrored(at, layers.coat_normal, wo);
    }
#endif
#ifdef HAVE_SHEEN
    if (principled_choose(layers.fibres, left, other)) local = sheen_sample(layers.wo, u.xy);
#endif
    weight = single;
    pdf = 0.0;
#ifdef HAVE_DISPERSION
    if (whole) weight *= 3.0 * vec3(equal(ivec3(1, 2, 3), ivec3(interaction_channel(at))));
    vec3 straight = wi;
    if (interaction_channel(met) >= 4) {  // it is decided
        vec3 back, on, through;
        principled_branch(at, wo, straight, back, through, on);
        bool refracts = (interaction_channel(met) & 4) != 0;
        straight = refracts ? through : straight;
        weight = refracts ? on / max(1.0 - back, vec3(1e-20)) : vec3(1.0);
        delta = true;
    }
#else
    if (delta) return any(greaterThan(single, vec3(0.0)));
#endif
    vec3 away = layers.right * local.x + layers.up * local.y + layers.normal * local.z;
#ifdef HAVE_CLEARCOAT
    if (coated) {
        away = layers.coat_right * coat_local.x + layers.coat_up * coat_local.y + layers.coat_normal * coat_local.z;
    }
#endif
    bool found = left < 0.0 && dot(local, local) > 0.0;
    wi = normalize(found ? away : wo);
#ifdef HAVE_DISPERSION
    vec3 value = principled_evaluate(met, wo, wi, pdf);
    if (delta) {  // here, since loops of a shader must not follow a return
        wi = straight;
        pdf = 0.0;
        return any(greaterThan(weight, vec3(0.0)));
    }
#else
    vec3 value = principled_scattered(at, layers, wo, wi, pdf);
#endif
    weight = value / max(pdf, 1e-30);
    return found && pdf > 0.0 && any(greaterThan(value, vec3(0.0)));
}
