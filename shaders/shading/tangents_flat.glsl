// Tangents of a scene whose triangles are all in world space.
#include "interface/tangents.glsl"
#include "lib/tangents_between.glsl"
#include "lib/face_vertices.glsl"
#include "lib/tangent.glsl"
#include "lib/triangle_point.glsl"

VertexTangents tangents_at(Hit hit) {
    Face face = fetch_faces(hit.triangle);
    ivec3 corners = max(face.corners, ivec3(0));
    Vertex a, b, c;
    face_vertices(corners, a, b, c);
    VertexTangents tangents = tangents_between(hit, corners, b.uv - a.uv, c.uv - a.uv);
    if (tangents.tangent.w == 0.0) {
        vec3 ab = b.position - a.position, ac = c.position - a.position;
        float stretch;
        vec3 normal = triangle_normal(a.position, b.position, c.position, vec3(0.0), stretch);
        tangents.tangent = tangent_along(normal, ab, ac, b.uv - a.uv, c.uv - a.uv);
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
