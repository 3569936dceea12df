// Geometry of instances: vertices are in their object's space, and what is told is in the world's.
// Normals go by the inverse transpose, which is the transpose of the map to the object's space; vertex normals one by
// one and made unit vectors before they are interpolated, as if the scene were flattened. That keeps the front in front
// under mirrored maps, too: there the cofactors and the order of the corners both change sign.
// The position is a sum over the corners, as in geometry_flat.glsl; its error is bounded by that of the maps there and
// back, each off by the rounding of its coefficients.
#include "interface/geometry.glsl"
#include "lib/face_vertices.glsl"
#include "lib/moving_instance.glsl"
#include "lib/ray_time.glsl"
#include "lib/smooth_lift.glsl"
#include "lib/triangle_point.glsl"

Geometry geometry_at(Ray ray, Hit hit) {
    enter_time_of(ray);
    Instance instance = instance_now(fetch_instances(hit.instance));
    Face face = fetch_faces(instance.face + hit.triangle);
    Vertex a, b, c;
    face_vertices(face.corners, a, b, c);
    vec3 weights = vec3(1.0 - hit.barycentric.x - hit.barycentric.y, hit.barycentric);
    mat3 to_world = transpose(mat3(instance.linear_x, instance.linear_y, instance.linear_z));
    // Its columns are rows of the map to the object's space: times a vector this is that map's transpose.
    mat3 normal_to_world = mat3(instance.inverse_x.xyz, instance.inverse_y.xyz, instance.inverse_z.xyz);
    vec3 translation = vec3(instance.inverse_x.w, instance.inverse_y.w, instance.inverse_z.w);
    vec3 local_position = a.position * weights.x + b.position * weights.y + c.position * weights.z;
    Geometry at;
    at.position = to_world * local_position + translation;
    float stretch;
    vec3 normal = triangle_normal(a.position, b.position, c.position, vec3(0.0), stretch);
    at.normal = unit_or(normal_to_world * normal, -ray.direction);
    mat3 abs_to_world = mat3(abs(to_world[0]), abs(to_world[1]), abs(to_world[2]));
    mat3 abs_to_object = transpose(mat3(abs(normal_to_world[0]), abs(normal_to_world[1]), abs(normal_to_world[2])));
    vec3 max_corner = max(max(abs(a.position), abs(b.position)), abs(c.position));
    vec3 magnitude = max(abs_to_world * max_corner, abs_to_world * (abs_to_object * abs(at.position - translation))) + abs(translation);
    at.error = position_error(magnitude, magnitude, magnitude, largest(abs_to_world * vec3(stretch)));
    at.shading = unit_or(unit_or(normal_to_world * a.normal, at.normal) * weights.x
                       + unit_or(normal_to_world * b.normal, at.normal) * weights.y
                       + unit_or(normal_to_world * c.normal, at.normal) * weights.z, at.normal);
    at.color = a.color * weights.x + b.color * weights.y + c.color * weights.z;
    vec3 ab = to_world * (b.position - a.position), ac = to_world * (c.position - a.position);
    at.uv = uv_place(a.uv, b.uv, c.uv, weights, ab, ac);
#ifdef HAVE_SMOOTH
    geometry_lift = smooth_lift(
        vec3[3](to_world * (local_position - a.position), to_world * (local_position - b.position), to_world * (local_position - c.position)),
        vec3[3](
            unit_or(normal_to_world * a.normal, at.normal),
            unit_or(normal_to_world * b.normal, at.normal),
            unit_or(normal_to_world * c.normal, at.normal)
        ),
        weights, at.normal, dot(at.normal, ray.direction) < 0.0 ? 1.0 : -1.0, 4.0 * at.error
    );
#endif
    at.material = instance.material >= 0 ? instance.material : face.material;
    return at;
}
