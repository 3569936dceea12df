// Details of a scene whose triangles are all in world space.
#include "interface/detail.glsl"
#include "lib/detail_between.glsl"
#include "lib/face_vertices.glsl"
#include "lib/tangent.glsl"
#include "lib/triangle_point.glsl"

Detail detail_at(Hit hit) {
    Face face = fetch_faces(hit.triangle);
    ivec3 corners = max(face.corners, ivec3(0));
    Vertex p, q, r;
    face_vertices(corners, p, q, r);
    Detail detail = detail_between(hit, corners, q.uv - p.uv, r.uv - p.uv);
    if (detail.tangent.w == 0.0) {
        vec3 ab = q.position - p.position, ac = r.position - p.position;
        float stretch;
        vec3 normal = triangle_normal(p.position, q.position, r.position, vec3(0.0), stretch);
        detail.tangent = tangent_along(normal, ab, ac, q.uv - p.uv, r.uv - p.uv);
    }
    if (face.corners.x < 0) detail.tangent = vec4(0.0), detail.uv_1 = vec3(0.0), detail.opacity = 1.0;  // a quadric
    return detail;
}

Face opacity_face(Hit hit) {
    return fetch_faces(hit.triangle);
}

int face_number(Hit hit) {
    return hit.triangle;
}
