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
    float distance2 = dot(offset, offset), radius2 = radius * radius;
    bool is_inside = distance2 <= radius2;
    vec3 direction = distance2 > 0.0 ? offset * inversesqrt(distance2) : vec3(0.0);
    float sine_extent = is_inside ? 1.0 : sqrt(radius2 / distance2);
    float cosine_extent = sqrt(max(0.0, 1.0 - sine_extent * sine_extent));
    float axis_length = length(axis), cosine_spread = min(axis_length - 2.0, 1.0);
    float sine_spread = sqrt(max(0.0, 1.0 - cosine_spread * cosine_spread));
    // From the normal nearest to the receiver, less the angle that the cluster's extent takes up.
    float cos_emission = -dot(axis, direction) / axis_length;
    cos_emission = power < 0.0 ? abs(cos_emission) : cos_emission;
    float sin_emission = sqrt(max(0.0, 1.0 - cos_emission * cos_emission));
    bool is_outside = cos_emission < cosine_spread;
    float cos_nearest = is_outside ? cos_emission * cosine_spread + sin_emission * sine_spread : 1.0;
    float sin_nearest = is_outside ? max(0.0, sin_emission * cosine_spread - cos_emission * sine_spread) : 0.0;
    float cos_emitted = cos_nearest < cosine_extent ? cos_nearest * cosine_extent + sin_nearest * sine_extent : 1.0;
    cos_emitted = is_inside ? 1.0 : cos_emitted > emission ? 0.5 * (max(cos_emitted, 0.0) + max(cos_emission, 0.0)) : 0.0;
    // The same at the receiver.
    float cos_receiver = dot(context.receiver.xyz, direction);
    cos_receiver = context.receiver.w > 0.0 ? abs(cos_receiver) : cos_receiver;
    float sin_receiver = sqrt(max(0.0, 1.0 - cos_receiver * cos_receiver));
    float cos_received = cos_receiver < cosine_extent ? cos_receiver * cosine_extent + sin_receiver * sine_extent : 1.0;
    cos_received = is_inside ? 1.0 : max(0.5 * (max(cos_received, 0.0) + max(cos_receiver, 0.0)), LIGHT_LEAST_FACING);
    float importance = abs(power) * (cos_emitted * cos_received / max(max(distance2, radius2), 1e-30));
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
    bool any_importance = left + right > 0.0;
    left = any_importance ? left : abs(node.left_power);
    right = any_importance ? right : abs(node.right_power);
    return left / max(left + right, 1e-37);
}

// The probability of the list, without the environment.
float tree_share() {
    return float(16777216 - environment_levels) / 16777216.0;
}

int light_chosen;    // the last choice: its number in the list,
float light_chance;  // and its probability

// Chooses a light for light_of by going down the tree of what is near or far; none where nothing is asked for.
void light_choose(LightContext context, float choose, bool samples_light) {
    float environment_share = float(environment_levels) / 16777216.0, chance = tree_share();
    float u = max((choose - environment_share) / max(chance, 1e-7), 0.0);
    bool is_far = u < light_far_share;
    float probability = is_far ? light_far_share : 1.0 - light_far_share;
    u = min((is_far ? u : u - light_far_share) / probability, 0.99999994);
    chance *= probability;
    int link = is_far ? light_roots.y : light_roots.x;
    if (samples_light && link >= 0 && choose >= environment_share) do {
        LightNode node = fetch_light_nodes(link);
        float left = tree_left(node, context);
        bool goes_left = u < left;
        probability = goes_left ? left : 1.0 - left;
        u = min((goes_left ? u : u - left) / probability, 0.99999994);
        chance *= probability;
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
