// The four-plane test of accel/triangle_planes.glsl with the condition of A. Adinetz and B. Berezin (2006) around it: the
// planes of the sides are evaluated where the distance lies in the ray's segment alone.
#include "interface/triangle.glsl"
#include "lib/culled.glsl"
#include "lib/nearer.glsl"

TriangleSetup triangle_setup(Ray ray) {
    return TriangleSetup(0.0);
}

void triangle_test(Ray ray, TriangleSetup setup, int address, int instance, inout Hit hit) {
    TrianglePlanes triangle = fetch_triangles(address);
    vec4 origin = vec4(ray.origin - planes_center, 1.0);
    float slope = dot(triangle.plane.xyz, ray.direction);
    float t = -dot(triangle.plane, origin) / slope;
    if (!(slope != 0.0 && t > 0.0 && t <= hit.t)) return;
    vec4 point = origin + t * vec4(ray.direction, 0.0);
    float v = dot(triangle.side_b, point), w = dot(triangle.side_c, point);
    bool inside = v >= 0.0 && w >= 0.0 && v + w <= planes_slack;
    inside = inside && !triangle_culled(ray, triangle, slope > 0.0);
    if (inside) keep_nearer(Hit(t, vec2(v, w), triangle.number, instance), hit);
}
