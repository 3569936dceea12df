// A point's details by those of its triangle's corners, in the mesh's own space; without a tangent its w is 0.
#include "lib/moving_tangent.glsl"
#include "lib/triangle_point.glsl"

// uv_edge1, uv_edge2: of the first texture coordinates, from the first corner to the second and third.
Detail detail_between(Hit hit, ivec3 corners, vec2 uv_edge1, vec2 uv_edge2) {
    Detail a = tangent_now(fetch_details(corners.x)), b = tangent_now(fetch_details(corners.y)), detail;
    Detail c = tangent_now(fetch_details(corners.z));
    vec3 weights = vec3(1.0 - hit.barycentric.x - hit.barycentric.y, hit.barycentric);
    detail.opacity = a.opacity * weights.x + b.opacity * weights.y + c.opacity * weights.z;
    detail.uv_1 = a.uv_1 * weights.x + b.uv_1 * weights.y + c.uv_1 * weights.z;
#ifdef HAVE_SECOND_UV
    detail.uv_1.z = uv_ratio(uv_edge1, uv_edge2, b.uv_1.xy - a.uv_1.xy, c.uv_1.xy - a.uv_1.xy);
#endif
    vec3 tangent = a.tangent.xyz * weights.x + b.tangent.xyz * weights.y + c.tangent.xyz * weights.z;
    detail.tangent = vec4(tangent, a.tangent.w);
    return detail;
}
