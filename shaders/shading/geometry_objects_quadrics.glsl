// Geometry of instances, of which some are of quadrics: a face whose first corner is -n - 1 stands for quadric n, which is
// met in its object's space. What is told of that point goes to the world as in geometry_objects.glsl.
#include "interface/instance.glsl"
#include "interface/quadric.glsl"
#define geometry_at polygon_at
#include "shading/geometry_objects.glsl"
#undef geometry_at

// The surface at a hit, world space.
Geometry geometry_at(Ray ray, Hit hit) {
    enter_time_of(ray);
    Instance instance = instance_now(fetch_instances(hit.instance));
    Face face = fetch_faces(instance.face + hit.triangle);
    Geometry at;
    if (face.corners.x < 0) {
        int object;
        at = quadric_at(object_ray(ray, hit.instance, object), hit.t, -face.corners.x - 1);
        mat3 to_world = transpose(mat3(instance.linear_x, instance.linear_y, instance.linear_z));
        mat3 normal_to_world = mat3(instance.inverse_x.xyz, instance.inverse_y.xyz, instance.inverse_z.xyz);
        vec3 translation = vec3(instance.inverse_x.w, instance.inverse_y.w, instance.inverse_z.w);
        mat3 abs_to_world = mat3(abs(to_world[0]), abs(to_world[1]), abs(to_world[2]));
        mat3 abs_to_object = transpose(mat3(abs(normal_to_world[0]), abs(normal_to_world[1]), abs(normal_to_world[2])));
        vec3 rotated = to_world * at.position;
        vec3 magnitude = max(abs_to_world * abs(at.position), abs_to_world * (abs_to_object * abs(rotated))) + abs(translation);
        at.position = rotated + translation;
        at.error = position_error(magnitude, magnitude, magnitude, 0.0) + largest(abs_to_world * vec3(at.error));
        at.normal = unit_or(normal_to_world * at.normal, -ray.direction);
        at.shading = at.normal;
        at.color = mix(fetch_vertices(face.corners.y).color, fetch_vertices(face.corners.z).color, at.uv.y);
        at.uv.z -= log2(abs(determinant(to_world))) / 3.0;
    } else at = polygon_at(ray, hit);
    if (face.corners.x < 0) find_no_lift();
    at.material = instance.material >= 0 ? instance.material : face.material;
    return at;
}
