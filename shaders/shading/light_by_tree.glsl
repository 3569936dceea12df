// A light chosen by going down the light tree: at each node to one of its children, by how much light they may send to
// the receiver (A. Conty Estevez and C. Kulla, "Importance Sampling of Many Lights with Adaptive Tree Splitting", 2018).
// One random number chooses all the way: what is left of it after each turn is as good as a new one. float64 twin:
// tests/lighting/test_light_tree.py.
// Memories: light_nodes and light_chances (viewer/lighting/light_tree.py). Uniforms: ivec2 light_roots,
// of the trees of what is near and what is infinitely far; float light_far_share, the latter's share.
#include "shading/light.glsl"

LightContext light_context(vec3 position, vec4 receiver) {
    return LightContext(position, receiver);
}

// How much light of a cluster may come to a position; of what is infinitely far, its power. both sides shine where the
// power is below zero. Cosines are means of the largest that any of the cluster may have, by angles at which nothing is
// turned away more, and those of its middle: bounds alone send twice to thrice the variance down a tree of thousands,
// the middle alone misses what is at the edge.
float light_importance(vec3 middle, float radius, vec3 axis, float power, float emission, LightContext context) {
    vec3 offset = middle - context.position;
    float squared = dot(offset, offset), reach = radius * radius;
    bool within = squared <= reach;
    vec3 direction = squared > 0.0 ? offset * inversesqrt(squared) : vec3(0.0);
    float sine_extent = within ? 1.0 : sqrt(reach / squared);
    float cosine_extent = sqrt(max(0.0, 1.0 - sine_extent * sine_extent));
    float stretch = length(axis), cosine_spread = min(stretch - 2.0, 1.0);
    float sine_spread = sqrt(max(0.0, 1.0 - cosine_spread * cosine_spread));
    // From the normal nearest to the receiver, less the angle that the cluster's extent takes up.
    float cosine = -dot(axis, direction) / stretch;
    cosine = power < 0.0 ? abs(cosine) : cosine;
    float sine = sqrt(max(0.0, 1.0 - cosine * cosine));
    bool beyond = cosine < cosine_spread;
    float turned = beyond ? cosine * cosine_spread + sine * sine_spread : 1.0;
    float turned_sine = beyond ? max(0.0, sine * cosine_spread - cosine * sine_spread) : 0.0;
    float leaving = turned < cosine_extent ? turned * cosine_extent + turned_sine * sine_extent : 1.0;
    leaving = within ? 1.0 : leaving > emission ? 0.5 * (max(leaving, 0.0) + max(cosine, 0.0)) : 0.0;
    // The same at the receiver.
    float here = dot(context.receiver.xyz, direction);
    here = context.receiver.w > 0.0 ? abs(here) : here;
    float here_sine = sqrt(max(0.0, 1.0 - here * here));
    float facing = here < cosine_extent ? here * cosine_extent + here_sine * sine_extent : 1.0;
    facing = within ? 1.0 : max(0.5 * (max(facing, 0.0) + max(here, 0.0)), LIGHT_LEAST_FACING);
    float importance = abs(power) * (leaving * facing / max(max(squared, reach), 1e-30));
    return radius < 0.0 ? abs(power) : min(importance, 1e30);
}

// The probability of a node's left child. Where none sends light, that of power, so that some light always is chosen.
float tree_left(LightNode node, LightContext context) {
#ifdef HAVE_GPU_FORM
    // One child after the other, in a loop that is not unrolled, so that its code is there once.
    float left = 0.0, right = 0.0;
    int sides = node.right_power != 0.0 ? 2 : 1;
    for (int side = 0; side < sides; side++) {
        bool first = side == 0;
        float importance = light_importance(
            first ? node.left : node.right,
            first ? node.left_radius : node.right_radius,
            first ? node.left_axis : node.right_axis,
            first ? node.left_power : node.right_power,
            first ? node.left_emission : node.right_emission,
            context
        );
        left = first ? importance : left;
        right = first ? right : importance;
    }
#else
    float left = light_importance(
        node.left, node.left_radius, node.left_axis, node.left_power, node.left_emission, context
    );
    float right = light_importance(
        node.right, node.right_radius, node.right_axis, node.right_power, node.right_emission, context
    );
#endif
    bool some = left + right > 0.0;
    left = some ? left : abs(node.left_power);
    right = some ? right : abs(node.right_power);
    return left / max(left + right, 1e-37);
}

// The probability of the list, without the environment.
float tree_share() {
    return float(16777216 - environment_levels) / 16777216.0;
}

int light_chosen;    // the last choice: its number in the list,
float light_chance;  // and its probability

void light_choose(LightContext context, float choose, bool samples_light) {
    float first = float(environment_levels) / 16777216.0, chance = tree_share();
    float u = max((choose - first) / max(chance, 1e-7), 0.0);
    bool far = u < light_far_share;
    float share = far ? light_far_share : 1.0 - light_far_share;
    u = min((far ? u : u - light_far_share) / share, 0.99999994);
    chance *= share;
    int link = far ? light_roots.y : light_roots.x;
    if (samples_light && link >= 0 && choose >= first) do {
        LightNode node = fetch_light_nodes(link);
        float left = tree_left(node, context);
        bool goes_left = u < left;
        share = goes_left ? left : 1.0 - left;
        u = min((goes_left ? u : u - left) / share, 0.99999994);
        chance *= share;
        link = goes_left ? node.left_link : node.right_link;
    } while (link >= 0);
    light_chosen = max(-1 - link, 0);
    light_chance = chance;
}

// The light of the last choice: its power is over the probability, and its density is per area.
Light light_of(int quantum) {
    Light light = fetch_lights(light_chosen);
    LightChance listed = fetch_light_chances(light_chosen);
    light.power *= listed.probability / light_chance;
    light.density = (light.density < 0.0 ? -1.0 : 1.0) * light_chance * listed.area_density;
    return light;
}

// The probability of a near light, by the bit trail to it.
float tree_probability(ivec2 bit_trail, LightContext context) {
    float chance = tree_share() * (1.0 - light_far_share);
    int link = light_roots.x, bits = bit_trail.x, turns = 0;
    if (link >= 0) do {
        LightNode node = fetch_light_nodes(link);
        float left = tree_left(node, context);
        bool goes_left = (bits & 1) == 0;
        chance *= goes_left ? left : 1.0 - left;
        link = goes_left ? node.left_link : node.right_link;
        turns += 1;
        bits = turns == LIGHT_TRAIL_BITS ? bit_trail.y : bits >> 1;
    } while (link >= 0);
    return chance;
}
