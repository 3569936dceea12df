// Geometry of a scene whose triangles are all in world space.
// The position is a sum over the corners, which is off by their rounding alone; along the ray it would be off by the
// rounding of the distance too. Bound: Pharr, Jakob and Humphreys (2016, section 3.9.4).
#include "interface/geometry.glsl"
#include "lib/face_vertices.glsl"
#include "lib/ray_time.glsl"
#include "lib/smooth_lift.glsl"
#include "lib/triangle_point.glsl"

Geometry geometry_at(Ray ray, Hit hit) {
    enter_time_of(ray);
    Face face = fetch_faces(hit.triangle);
    Vertex a, b, c;
    face_vertices(face.corners, a, b, c);
    vec3 weights = vec3(1.0 - hit.barycentric.x - hit.barycentric.y, hit.barycentric);
    Geometry at;
    at.position = a.position * weights.x + b.position * weights.y + c.position * weights.z;
    float stretch;
    at.normal = triangle_normal(a.position, b.position, c.position, -ray.direction, stretch);
    at.error = position_error(a.position, b.position, c.position, stretch);
    at.shading = unit_or(a.normal * weights.x + b.normal * weights.y + c.normal * weights.z, at.normal);
    at.color = a.color * weights.x + b.color * weights.y + c.color * weights.z;
    at.uv = uv_place(a.uv, b.uv, c.uv, weights, b.position - a.position, c.position - a.position);
    at.material = face.material;
#ifdef HAVE_SMOOTH
    geometry_lift = smooth_lift(
        vec3[3](at.position - a.position, at.position - b.position, at.position - c.position),
        vec3[3](unit_or(a.normal, at.normal), unit_or(b.normal, at.normal), unit_or(c.normal, at.normal)),
        weights, at.normal, dot(at.normal, ray.direction) < 0.0 ? 1.0 : -1.0, 4.0 * at.error
    );
#endif
    return at;
}
