// Tangents of instances: in their object's space, and put into the world's as in geometry_objects.glsl. Under mirrored maps
// the normal stays in front, and the tangent's sign changes.
#include "interface/tangents.glsl"
#include "lib/tangents_between.glsl"
#include "lib/face_vertices.glsl"
#include "lib/moving_instance.glsl"
#include "lib/tangent.glsl"
#include "lib/triangle_point.glsl"

VertexTangents tangents_at(Hit hit) {
    Instance instance = instance_now(fetch_instances(hit.instance));
    Face face = fetch_faces(instance.face + hit.triangle);
    ivec3 corners = max(face.corners, ivec3(0));
    Vertex a, b, c;
    face_vertices(corners, a, b, c);
    VertexTangents tangents = tangents_between(hit, corners, b.uv - a.uv, c.uv - a.uv);
    mat3 to_world = transpose(mat3(instance.linear_x, instance.linear_y, instance.linear_z));
    tangents.tangent.xyz = to_world * tangents.tangent.xyz;
    if (determinant(to_world) < 0.0) tangents.tangent.w = -tangents.tangent.w;
    if (tangents.tangent.w == 0.0) {
        vec3 ab = to_world * (b.position - a.position), ac = to_world * (c.position - a.position);
        mat3 normal_to_world = mat3(instance.inverse_x.xyz, instance.inverse_y.xyz, instance.inverse_z.xyz);
        float stretch;
        vec3 normal = triangle_normal(a.position, b.position, c.position, vec3(0.0), stretch);
        tangents.tangent = tangent_along(normal_to_world * normal, ab, ac, b.uv - a.uv, c.uv - a.uv);
    }
    if (face.corners.x < 0) tangents.tangent = vec4(0.0), tangents.uv_1 = vec3(0.0), tangents.opacity = 1.0;  // a quadric
    return tangents;
}

// The face of a hit, with the instance's material if it has one.
Face opacity_face(Hit hit) {
    Instance instance = fetch_instances(hit.instance);
    Face face = fetch_faces(instance.face + hit.triangle);
    if (instance.material >= 0) face.material = instance.material;
    return face;
}

int face_number(Hit hit) {
    return fetch_instances(hit.instance).face + hit.triangle;
}
