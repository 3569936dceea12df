// Surfaces of the ray caster: interpolated normals, and base colour times vertex colour as albedo.
#include "interface/surface.glsl"

Surface surface_at(Ray ray, Hit hit) {
    Face face = fetch_faces(hit.triangle);
    Vertex a = fetch_vertices(face.corners.x);
    Vertex b = fetch_vertices(face.corners.y);
    Vertex c = fetch_vertices(face.corners.z);
    vec3 weights = vec3(1.0 - hit.barycentric.x - hit.barycentric.y, hit.barycentric);
    vec3 normal = a.normal * weights.x + b.normal * weights.y + c.normal * weights.z;
    float squared = dot(normal, normal);
    // Opposite corner normals can cancel: then the surface faces the ray.
    normal = squared > 0.0 ? normal * inversesqrt(squared) : -ray.direction;
    normal = dot(normal, ray.direction) > 0.0 ? -normal : normal;
    vec3 color = a.color * weights.x + b.color * weights.y + c.color * weights.z;
    return Surface(normal, color * fetch_materials(face.material).base_color);
}
