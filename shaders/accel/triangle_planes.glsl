// The four-plane triangle test of Adinetz and Berezin ("Implementing classical ray tracing on GPU", 2006). A triangle
// is its own plane and planes through its sides, scaled by the inverse height of the opposite corner. A side's plane at
// a point is then that corner's barycentric weight; the third follows from the other two. A texel per plane. Points are
// relative to planes_center, the centre of the scene. The published test accepts a sum of weights up to 1.004,
// planes_slack, else 1: it closes cracks by rounding between triangles, and widens silhouettes. As exact as the float32
// coefficients: weights to about 2^-23 of the distance from the centre over the height.
#include "interface/triangle.glsl"
#include "lib/culled.glsl"
#include "lib/nearer.glsl"

TriangleSetup triangle_setup(Ray ray) {
    return TriangleSetup(0.0);
}

// Keeps the triangle's hit where it is nearer than `hit`; v, w: the weights of its second and third corner.
void triangle_test(Ray ray, TriangleSetup setup, int address, int instance, inout Hit hit) {
    TrianglePlanes triangle = fetch_triangles(address);
    vec4 origin = vec4(ray.origin - planes_center, 1.0);
    float slope = dot(triangle.plane.xyz, ray.direction);
    if (slope == 0.0) return;
    float t = -dot(triangle.plane, origin) / slope;
    vec4 point = origin + t * vec4(ray.direction, 0.0);
    float v = dot(triangle.side_b, point), w = dot(triangle.side_c, point);
    bool inside = v >= 0.0 && w >= 0.0 && v + w <= planes_slack;
    inside = inside && !triangle_culled(ray, triangle, slope > 0.0);
    if (inside && t > 0.0) keep_nearer(Hit(t, vec2(v, w), triangle.number, instance), hit);
}
