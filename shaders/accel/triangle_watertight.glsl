// The watertight ray/triangle test of Woop, Benthin and Wald (JCGT 2, 1, 2013): corners are sheared so that the ray is
// the z axis, and the signs of the 2-D edge functions decide.
// Where the paper repeats a zero edge function in double precision, missing in GLSL 3.30, one within its own rounding
// error counts as zero. A ray on an edge or a corner then hits every triangle there. triangle_scale, a power of two,
// scales the scene to about unit size across the ray: products of two lengths stay within float32.
#include "interface/triangle.glsl"
#include "lib/culled.glsl"
#include "lib/moving_triangle.glsl"
#include "lib/nearer.glsl"

TriangleSetup triangle_setup(Ray ray) {
    vec3 magnitude = abs(ray.direction);
    TriangleSetup setup;
    setup.axis = magnitude.z >= magnitude.x && magnitude.z >= magnitude.y ? 2 : (magnitude.y >= magnitude.x ? 1 : 0);
    // Cyclic, so that (x, y, z) is a rotated frame whose z is the direction's largest component.
    vec3 d = setup.axis == 2 ? ray.direction : (setup.axis == 1 ? ray.direction.zxy : ray.direction.yzx);
    setup.by = vec3(d.x, d.y, 1.0) / d.z;
    return setup;
}

// A corner relative to the ray's origin, sheared so that the ray is the z axis, whose unit is the ray's direction.
vec3 sheared(vec3 corner, TriangleSetup setup) {
    vec3 v = setup.axis == 2 ? corner : (setup.axis == 1 ? corner.zxy : corner.yzx);
    return vec3((v.xy - setup.by.xy * v.z) * triangle_scale, setup.by.z * v.z);
}

// Twice the signed area of the triangle of the origin and an edge in (x, y); 0 within its rounding error.
float edge_function(vec3 from, vec3 to) {
    float product_1 = to.x * from.y, product_2 = to.y * from.x;
    float difference = product_1 - product_2;
    // Each product is off by at most 2^-24 of itself. Two that are rounded alike never flip the difference's sign; one
    // that a compiler contracts with the subtraction may, and the two triangles of an edge would disagree.
    return abs(difference) <= 1.1920929e-7 * max(abs(product_1), abs(product_2)) ? 0.0 : difference;
}

// Keeps the triangle's hit where it is nearer than `hit`; u, v, w: the edge functions opposite its corners.
void triangle_test(Ray ray, TriangleSetup setup, int address, int instance, inout Hit hit) {
    Triangle triangle = triangle_at(ray, fetch_triangles(address));
    vec3 a = sheared(triangle.a - ray.origin, setup);
    vec3 b = sheared(triangle.b - ray.origin, setup);
    vec3 c = sheared(triangle.c - ray.origin, setup);
    float u = edge_function(b, c), v = edge_function(c, a), w = edge_function(a, b);
    float min_edge = min(min(u, v), w), max_edge = max(max(u, v), w);
    float determinant = u + v + w;
    vec3 low_corner = min(min(a, b), c), high_corner = max(max(a, b), c), extent = high_corner - low_corner;
    // Edge-on: where the projected area is mere rounding, the distance would be arbitrary; the ray hits the triangle's
    // neighbours, which share its edges.
    bool inside = (min_edge >= 0.0 || max_edge <= 0.0) && abs(determinant) > 2.3841858e-7 * extent.x * extent.y;
    // Edge functions may count as zero on the edges' extensions too: only between the corners is that a hit.
    bool covers_ray = max(low_corner.x, low_corner.y) <= 0.0 && min(high_corner.x, high_corner.y) >= 0.0;
    // From a corner, so that coplanar triangles across the axis are at equal distances.
    vec2 weights = vec2(v, w) / determinant;
    float t = a.z + weights.x * (b.z - a.z) + weights.y * (c.z - a.z);
    // Beyond the origin: rounding of a distance of zero is not a hit.
    bool is_ahead = t > 2.3841858e-7 * max(high_corner.z, -low_corner.z);
    // The projected area is the normal's component along the ray, over the direction's largest component.
    bool back = (determinant < 0.0) != (setup.by.z < 0.0);
    inside = inside && !triangle_culled(ray, triangle, back);
    if (inside && covers_ray && is_ahead) keep_nearer(Hit(t, weights, triangle.number, instance), hit);
}
