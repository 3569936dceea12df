// Details of a scene whose triangles are all in world space.
#include "interface/detail.glsl"
#include "lib/tangent.glsl"
#include "lib/triangle_point.glsl"

Detail detail_at(Hit hit) {
    Face face = fetch_faces(hit.triangle);
    ivec3 corners = max(face.corners, ivec3(0));
    Detail a = fetch_details(corners.x), b = fetch_details(corners.y), c = fetch_details(corners.z), found;
    vec3 weights = vec3(1.0 - hit.barycentric.x - hit.barycentric.y, hit.barycentric);
    found.opacity = a.opacity * weights.x + b.opacity * weights.y + c.opacity * weights.z;
    found.uv_1 = a.uv_1 * weights.x + b.uv_1 * weights.y + c.uv_1 * weights.z;
#ifdef HAVE_SECOND_UV
    vec2 first = fetch_vertices(corners.x).uv;
    vec2 across = fetch_vertices(corners.y).uv - first, down = fetch_vertices(corners.z).uv - first;
    found.uv_1.z = uv_ratio(across, down, b.uv_1.xy - a.uv_1.xy, c.uv_1.xy - a.uv_1.xy);
#endif
    found.tangent = vec4(a.tangent.xyz * weights.x + b.tangent.xyz * weights.y + c.tangent.xyz * weights.z, a.tangent.w);
    if (found.tangent.w == 0.0) {
        Vertex p = fetch_vertices(corners.x), q = fetch_vertices(corners.y), r = fetch_vertices(corners.z);
        vec3 ab = q.position - p.position, ac = r.position - p.position;
        float stretch;
        vec3 normal = triangle_normal(p.position, q.position, r.position, vec3(0.0), stretch);
        found.tangent = tangent_along(normal, ab, ac, q.uv - p.uv, r.uv - p.uv);
    }
    if (face.corners.x < 0) found = Detail(vec4(0.0), vec3(0.0), 1.0);  // a quadric
    return found;
}

Face opacity_face(Hit hit) {
    return fetch_faces(hit.triangle);
}

int face_number(Hit hit) {
    return hit.triangle;
}
