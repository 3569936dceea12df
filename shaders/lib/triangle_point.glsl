// Normals of triangles and error bounds of points on them, for any corners within float32.

float largest(vec3 v) {
    vec3 size = abs(v);
    return max(max(size.x, size.y), size.z);
}

// The unit vector along v; `other` for a zero v, and for NaN, which compilers take out of comparisons turned round.
vec3 unit_or(vec3 v, vec3 other) {
    float magnitude = largest(v);
    return magnitude > 1e-37 ? normalize(v / magnitude) : other;  // scaled squares neither vanish nor overflow
}

// The unit normal on the side from which the corners are counter-clockwise; `other` for a triangle without area.
// stretch: about the square of the longest side over its height, scene units; at most 1,000 times the side, so that
// rays leaving a needle do not begin far away.
vec3 triangle_normal(vec3 a, vec3 b, vec3 c, vec3 other, out float stretch) {
    vec3 ab = b - a, ac = c - a;
    float longest = max(largest(ab), largest(ac));
    stretch = longest;
    if (!(longest > 1e-37)) return other;
    vec3 normal = cross(ab / longest, ac / longest);
    stretch /= clamp(largest(normal), 1e-3, 1.0);
    return unit_or(normal, other);
}

// Texture coordinates of a point, and log2 of their change per scene unit: the root of the areas' ratio (T.
// Akenine-Moeller et al., "Texture Level of Detail Strategies for Real-Time Ray Tracing", Ray Tracing Gems, 2019,
// equation 20.3). a, b, c: of the corners. ab, ac: sides of the triangle.
vec3 uv_place(vec2 a, vec2 b, vec2 c, vec3 weights, vec3 ab, vec3 ac) {
    vec2 edge1 = b - a, edge2 = c - a;
    float longest = max(largest(ab), largest(ac));  // so that no square overflows
    float ratio = abs(edge1.x * edge2.y - edge1.y * edge2.x) / length(cross(ab / longest, ac / longest));
    return vec3(a * weights.x + b * weights.y + c * weights.z, 0.5 * log2(ratio) - log2(longest));
}

// log2 of the ratio of change of the second texture coordinates to the first, on a triangle with these sides.
float uv_ratio(vec2 edge1, vec2 edge2, vec2 edge1_1, vec2 edge2_1) {
    vec2 area = vec2(edge1.x, edge1_1.x) * vec2(edge2.y, edge2_1.y) - vec2(edge1.y, edge1_1.y) * vec2(edge2.x, edge2_1.x);
    area = abs(area);
    return 0.5 * log2(area.y / area.x);
}

// Distance from the triangle at which rays leaving it must start. A weighted sum of the corners is off by two units in
// the last place of the largest coordinate. The triangle tests work with corners relative to the ray's origin, with
// errors that grow with slenderness: with a tenth of the stretch, none of 200,000 random rays hit its own triangle by
// the watertight test, for sides 1 to 10,000 times the height, nor with half of the bound.
float position_error(vec3 a, vec3 b, vec3 c, float stretch) {
    return 1.9073486e-6 * (max(max(largest(a), largest(b)), largest(c)) + 0.1 * stretch);
}
