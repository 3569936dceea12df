// Rays against boxes.

// Entry and exit distances of a ray in a box, up to a limit, by those at which it meets the planes of its low and high
// sides; a miss has entry > exit.
vec2 box_span(vec3 at_low, vec3 at_high, float farthest) {
    vec3 near_sides = min(at_low, at_high), far_sides = max(at_low, at_high);
    float entry = max(max(max(near_sides.x, near_sides.y), near_sides.z), 0.0);
    return vec2(entry, min(min(min(far_sides.x, far_sides.y), far_sides.z), farthest));
}

// The same by the direction. inverse: 1 / direction, without infinities. Exits are widened beyond rounding (T. Ize,
// "Robust BVH Ray Traversal", JCGT 2, 2, 2013), and slightly more, so that a box whose triangle is as near as the hit is
// entered.
vec2 box_interval(vec3 low, vec3 high, vec3 origin, vec3 inverse, float farthest) {
    vec3 at_low = (low - origin) * inverse, at_high = (high - origin) * inverse;
    vec3 near_sides = min(at_low, at_high), far_sides = max(at_low, at_high);
    float entry = max(max(near_sides.x, near_sides.y), max(near_sides.z, 0.0));
    float exit = min(min(far_sides.x, far_sides.y), min(far_sides.z, farthest)) * 1.0000006;
    return vec2(entry, exit);
}

// The same for two boxes at once: (entries of both, exits of both). x, y, z: per axis the low sides of both boxes and
// their high sides. The direction's sign selects the nearer one, which saves a minimum and a maximum each.
vec4 box_intervals(vec4 x, vec4 y, vec4 z, vec3 origin, vec3 inverse, float farthest) {
    vec4 at_x = (x - origin.x) * inverse.x, at_y = (y - origin.y) * inverse.y, at_z = (z - origin.z) * inverse.z;
    at_x = inverse.x < 0.0 ? at_x.zwxy : at_x;
    at_y = inverse.y < 0.0 ? at_y.zwxy : at_y;
    at_z = inverse.z < 0.0 ? at_z.zwxy : at_z;
    vec2 entries = max(max(at_x.xy, at_y.xy), max(at_z.xy, 0.0));
    vec2 exits = min(min(at_x.zw, at_y.zw), min(at_z.zw, farthest)) * 1.0000006;
    return vec4(entries, exits);
}
