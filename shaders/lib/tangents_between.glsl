// A point's tangents by those of its triangle's corners, in the mesh's own space; without a tangent its w is 0.
#include "lib/moving_tangent.glsl"
#include "lib/triangle_point.glsl"

// uv_edge1, uv_edge2: of the first texture coordinates, from the first corner to the second and third.
VertexTangents tangents_between(Hit hit, ivec3 corners, vec2 uv_edge1, vec2 uv_edge2) {
    VertexTangents a = tangent_now(fetch_tangents(corners.x)), b = tangent_now(fetch_tangents(corners.y)), tangents;
    VertexTangents c = tangent_now(fetch_tangents(corners.z));
    vec3 weights = vec3(1.0 - hit.barycentric.x - hit.barycentric.y, hit.barycentric);
    tangents.opacity = a.opacity * weights.x + b.opacity * weights.y + c.opacity * weights.z;
    tangents.uv_1 = a.uv_1 * weights.x + b.uv_1 * weights.y + c.uv_1 * weights.z;
#ifdef HAVE_SECOND_UV
    tangents.uv_1.z = uv_ratio(uv_edge1, uv_edge2, b.uv_1.xy - a.uv_1.xy, c.uv_1.xy - a.uv_1.xy);
#endif
    vec3 tangent = a.tangent.xyz * weights.x + b.tangent.xyz * weights.y + c.tangent.xyz * weights.z;
    tangents.tangent = vec4(tangent, a.tangent.w);
    return tangents;
}
