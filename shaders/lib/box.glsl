// Rays against boxes.

// The part of a ray, up to a distance, that lies in a box: entry and exit, which it misses where entry > exit.
// inverse: 1 / direction, without infinities. Exits are widened by what rounding may take from them (T. Ize, "Robust BVH
// Ray Traversal", JCGT 2, 2, 2013), and a little more, so that a box whose triangle is as near as the hit is entered.
vec2 box_interval(vec3 low, vec3 high, vec3 origin, vec3 inverse, float farthest) {
    vec3 at_low = (low - origin) * inverse, at_high = (high - origin) * inverse;
    vec3 nearer = min(at_low, at_high), farther = max(at_low, at_high);
    float enters = max(max(nearer.x, nearer.y), max(nearer.z, 0.0));
    float leaves = min(min(farther.x, farther.y), min(farther.z, farthest)) * 1.0000006;
    return vec2(enters, leaves);
}
