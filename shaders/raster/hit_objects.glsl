// A ray's hit on a triangle of an instance that the rasteriser has found: weights in the object's space, the distance in
// the world.
#include "interface/instance.glsl"
#include "raster/on_triangle.glsl"

// The ray as its tests take it.
Ray tested_ray(Ray ray, int instance) {
    int object;
    return object_ray(ray, instance, object);
}

// The hit of a ray, world space, on a triangle of an instance, numbered within its object.
Hit visible_hit(Ray ray, int number, int instance) {
    Instance placement = fetch_instances(instance);
    ivec3 corners = fetch_faces(placement.face + number).corners;
    vec3 a = fetch_vertices(corners.x).position;
    vec3 ab = fetch_vertices(corners.y).position - a, ac = fetch_vertices(corners.z).position - a;
    Ray local_ray = tested_ray(ray, instance);
    vec2 weights = weights_on_triangle(local_ray.origin - a, local_ray.direction, ab, ac);
    mat3 to_world = transpose(mat3(placement.linear_x, placement.linear_y, placement.linear_z));
    vec3 translation = vec3(placement.inverse_x.w, placement.inverse_y.w, placement.inverse_z.w);
    vec3 point = to_world * (a + weights.x * ab + weights.y * ac) + translation;
    return Hit(distance(point, ray.origin), weights, number, instance);
}
