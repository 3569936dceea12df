// Tangents from texture coordinates.

// The direction along +u on a triangle with these edges, and a sign, -1 for a mirrored image: the cross product of
// normal and tangent times the sign points along -v (glTF 2.0, 3.7.2.1, the convention of MikkTSpace). Zero for a
// triangle without area on the image.
vec4 tangent_along(vec3 normal, vec3 ab, vec3 ac, vec2 uv_ab, vec2 uv_ac) {
    float area = uv_ab.x * uv_ac.y - uv_ab.y * uv_ac.x, orientation = area < 0.0 ? -1.0 : 1.0;
    vec3 tangent = (ab * uv_ac.y - ac * uv_ab.y) * orientation, bitangent = (ac * uv_ab.x - ab * uv_ac.x) * orientation;
    float magnitude = max(max(abs(tangent.x), abs(tangent.y)), abs(tangent.z));
    if (!(magnitude > 1e-37) || area == 0.0) return vec4(0.0);
    return vec4(tangent / magnitude, dot(cross(normal, tangent / magnitude), bitangent) > 0.0 ? -1.0 : 1.0);
}
