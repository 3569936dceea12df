// glTF's material where channels of light part (KHR_materials_dispersion). An interaction's channel tells which: 0 all, 1, 2,
// 3 red, green, blue; 4 more: it refracts for certain; 8: it reflects for certain, whatever the channel. The index is then
// that channel's.
#include "shading/bsdf_principled.glsl"

// Whether channels have indices of their own there.
bool principled_parts(Interaction at) {
    return outside_parts(at) || fetch_principled(interaction_material(at)).half_spread > 0.0;
}

bool principled_whole(Interaction at) {
    return (interaction_channel(at) & 3) == 0 && principled_parts(at);
}

#ifdef HAVE_PREPARED
// Of the surface that a kernel works on, seen from where its path came from, which is all that kernels ask for: what
// follows from the interaction alone.
struct Seen {
    Principled material;
    Layers layers, red, blue;  // red, blue: where channels have indices of their own; layers is then green's
};

Seen principled_kept;

// The layers of a surface, for each channel where these part: one after the other, so that the code is there once.
Seen principled_prepared(Interaction at) {
    Seen prepared;
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
    return prepared;
}

// The prepared layers of the interaction's channel.
Layers principled_seen(Interaction at, vec3 wo) {
    Layers layers = principled_kept.layers;
    int channel = interaction_channel(at) & 3;
    if (channel == 1) layers = principled_kept.red;
    if (channel == 3) layers = principled_kept.blue;
    return layers;
}

Principled principled_material(Interaction at) {
    return principled_kept.material;
}
#endif

// Of light of all channels each is scattered by its own index.
vec3 principled_evaluate(Interaction at, vec3 wo, vec3 wi, out float pdf) {
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
}

// Of light of all channels each is reflected in its own share, and all are refracted as green.
void principled_branches(
    Interaction at, vec3 wo, out vec3 reflected, out vec3 reflection, out vec3 refracted, out vec3 refraction
) {
    bool whole = principled_whole(at);
    vec3 reflections = vec3(0.0);
    int iteration = 1;
    do {
        int channel = 1 + (2 * iteration - 2) % 3;  // red, blue, green
        if (whole) set_interaction_channel(at, channel);
        principled_branch(at, wo, reflected, reflection, refracted, refraction);
        reflections += whole ? reflection * vec3(equal(ivec3(1, 2, 3), ivec3(channel))) : reflection;
        iteration += 1;
    } while (iteration < (whole ? 4 : 2));
    reflection = reflections;
}

// Light of all channels takes the direction of one of them, and so does what of it is reflected or refracted in one
// direction: with three times the weight.
bool principled_sample(Interaction at, vec3 wo, vec3 u, out vec3 wi, out vec3 weight, out float pdf) {
    Interaction original = at;
    bool whole = principled_whole(at);
    if (whole) {
        float scaled_u = 3.0 * u.z;
        set_interaction_channel(at, 1 + min(int(scaled_u), 2));
        u.z = min(fract(scaled_u), 0.99999994);
    }
    LobeSample lobe;
    vec3 lobe_direction;
    bool valid = principled_draw(at, principled_seen(at, wo), wo, u, lobe, lobe_direction);
    weight = lobe.single;
    if (whole) weight *= 3.0 * vec3(equal(ivec3(1, 2, 3), ivec3(interaction_channel(at))));
    vec3 single_direction = lobe.wi;
    if (interaction_channel(original) >= 4) {  // it is decided
        vec3 reflection, refraction, refracted;
        principled_branch(at, wo, single_direction, reflection, refracted, refraction);
        bool refracts = (interaction_channel(original) & 4) != 0;
        single_direction = refracts ? refracted : single_direction;
        weight = refracts ? refraction / max(1.0 - reflection, vec3(1e-20)) : vec3(1.0);
        lobe.delta = true;
    }
    wi = lobe_direction;
    vec3 value = principled_evaluate(original, wo, wi, pdf);
    if (lobe.delta) {  // here, since loops of a shader must not follow a return
        wi = single_direction;
        pdf = 0.0;
        return any(greaterThan(weight, vec3(0.0)));
    }
    weight = value / max(pdf, 1e-30);
    return valid && pdf > 0.0 && any(greaterThan(value, vec3(0.0)));
}
