// A ray's hit on a triangle that the rasteriser has found, of a scene whose triangles are all in world space.
#include "raster/on_triangle.glsl"

// The ray as its tests take it.
Ray tested_ray(Ray ray, int instance) {
    return ray;
}

// The hit of a ray on the triangle of that number.
Hit visible_hit(Ray ray, int number, int instance) {
    ivec3 corners = fetch_faces(number).corners;
    vec3 a = fetch_vertices(corners.x).position;
    vec3 ab = fetch_vertices(corners.y).position - a, ac = fetch_vertices(corners.z).position - a;
    vec2 weights = weights_on_triangle(ray.origin - a, ray.direction, ab, ac);
    return Hit(distance(a + weights.x * ab + weights.y * ac, ray.origin), weights, number, instance);
}
