// The ray/triangle test of Moeller and Trumbore (1997), as published: rays may slip between triangles at a shared edge.
#include "interface/triangle.glsl"
#include "lib/culled.glsl"
#include "lib/moving_triangle.glsl"
#include "lib/nearer.glsl"

TriangleSetup triangle_setup(Ray ray) {
    return TriangleSetup(0.0);
}

// Keeps the triangle's hit where it is nearer than `hit`; v, w: the weights of its second and third corner.
void triangle_test(Ray ray, TriangleSetup setup, int address, int instance, inout Hit hit) {
    Triangle triangle = triangle_at(ray, fetch_triangles(address));
    vec3 ab = triangle.b - triangle.a, ac = triangle.c - triangle.a;
    vec3 p = cross(ray.direction, ac);
    float determinant = dot(ab, p);
    if (determinant == 0.0) return;
    float inverse = 1.0 / determinant;
    vec3 s = ray.origin - triangle.a;
    float v = dot(s, p) * inverse;
    vec3 q = cross(s, ab) * inverse;  // scaled before t, whose third power of lengths overflows
    float w = dot(ray.direction, q);
    float t = dot(ac, q);
    bool inside = v >= 0.0 && w >= 0.0 && v + w <= 1.0;
    inside = inside && !triangle_culled(ray, triangle, determinant < 0.0);
    if (inside && t > 0.0) keep_nearer(Hit(t, vec2(v, w), triangle.number, instance), hit);
}
