// glTF's material of which all channels of light have one index.
#include "shading/bsdf_principled.glsl"

#ifdef HAVE_PREPARED
// Of the surface that a kernel works on, seen from where its path came from, which is all that kernels ask for: what
// follows from the interaction alone.
#ifdef HAVE_REMATERIALISED  // layers are derived where they are used
struct Seen {
    Principled material;
};

Seen principled_kept;

Seen principled_prepared(Interaction at) {
    return Seen(principled_at(at));
}

Layers principled_seen(Interaction at, vec3 wo) {
    return principled_seen_of(at, principled_kept.material, wo);
}
#else
struct Seen {
    Principled material;
    Layers layers;
};

Seen principled_kept;

Seen principled_prepared(Interaction at) {
    Principled material = principled_at(at);
    return Seen(material, principled_seen_of(at, material, at.wo));
}

Layers principled_seen(Interaction at, vec3 wo) {
    return principled_kept.layers;
}
#endif

Principled principled_material(Interaction at) {
    return principled_kept.material;
}
#endif

vec3 principled_evaluate(Interaction at, vec3 wo, vec3 wi, out float pdf) {
    return principled_scattered(at, principled_seen(at, wo), wo, wi, pdf);
}

void principled_branches(
    Interaction at, vec3 wo, out vec3 reflected, out vec3 reflection, out vec3 refracted, out vec3 refraction
) {
    principled_branch(at, wo, reflected, reflection, refracted, refraction);
}

// A direction by the lobe that u chooses; pdf is 0 for single directions.
bool principled_sample(Interaction at, vec3 wo, vec3 u, out vec3 wi, out vec3 weight, out float pdf) {
    Layers layers = principled_seen(at, wo);
    LobeSample lobe;
    vec3 lobe_direction;
    bool valid = principled_draw(at, layers, wo, u, lobe, lobe_direction);
    wi = lobe.wi;
    weight = lobe.single;
    pdf = 0.0;
    if (lobe.delta) return any(greaterThan(weight, vec3(0.0)));
    wi = lobe_direction;
    vec3 value = principled_scattered(at, layers, wo, wi, pdf);
    weight = value / max(pdf, 1e-30);
    return valid && pdf > 0.0 && any(greaterThan(value, vec3(0.0)));
}
