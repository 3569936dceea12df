// Tangents of a scene whose triangles are all in world space.
#include "interface/tangents.glsl"
#include "lib/tangents_between.glsl"
#include "lib/face_vertices.glsl"
#include "lib/tangent.glsl"
#include "lib/triangle_point.glsl"

VertexTangents tangents_at(Hit hit) {
    Face face = fetch_faces(hit.triangle);
    ivec3 corners = max(face.corners, ivec3(0));
    Vertex p, q, r;
    face_vertices(corners, p, q, r);
    VertexTangents tangents = tangents_between(hit, corners, q.uv - p.uv, r.uv - p.uv);
    if (tangents.tangent.w == 0.0) {
        vec3 ab = q.position - p.position, ac = r.position - p.position;
        float stretch;
        vec3 normal = triangle_normal(p.position, q.position, r.position, vec3(0.0), stretch);
        tangents.tangent = tangent_along(normal, ab, ac, q.uv - p.uv, r.uv - p.uv);
    }
    if (face.corners.x < 0) tangents.tangent = vec4(0.0), tangents.uv_1 = vec3(0.0), tangents.opacity = 1.0;  // a quadric
    return tangents;
}

Face opacity_face(Hit hit) {
    return fetch_faces(hit.triangle);
}

int face_number(Hit hit) {
    return hit.triangle;
}
