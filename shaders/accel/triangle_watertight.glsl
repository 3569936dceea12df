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
    vec3 size = abs(ray.direction);
    TriangleSetup setup;
    setup.axis = size.z >= size.x && size.z >= size.y ? 2 : (size.y >= size.x ? 1 : 0);
    // Cyclic, so that (x, y, z) is a rotated frame whose z is the direction's largest component.
    vec3 d = setup.axis == 2 ? ray.direction : (setup.axis == 1 ? ray.direction.zxy : ray.direction.yzx);
    setup.by = vec3(d.x, d.y, 1.0) / d.z;
    return setup;
}

vec3 sheared(vec3 corner, TriangleSetup setup) {
    vec3 v = setup.axis == 2 ? corner : (setup.axis == 1 ? corner.zxy : corner.yzx);
    return vec3((v.xy - setup.by.xy * v.z) * triangle_scale, setup.by.z * v.z);
}

float edge_function(vec3 from, vec3 to) {
    float forward = to.x * from.y, backward = to.y * from.x;
    float difference = forward - backward;
    // Each product is off by at most 2^-24 of itself. Two that are rounded alike never flip the difference's sign; one
    // that a compiler contracts with the subtraction may, and the two triangles of an edge would disagree.
    return abs(difference) <= 1.1920929e-7 * max(abs(forward), abs(backward)) ? 0.0 : difference;
}

void triangle_test(Ray ray, TriangleSetup setup, int address, int instance, inout Hit hit) {
    Triangle triangle = triangle_at(ray, fetch_triangles(address));
    vec3 a = sheared(triangle.a - ray.origin, setup);
    vec3 b = sheared(triangle.b - ray.origin, setup);
    vec3 c = sheared(triangle.c - ray.origin, setup);
    float u = edge_function(b, c), v = edge_function(c, a), w = edge_function(a, b);
    float low = min(min(u, v), w), high = max(max(u, v), w);
    float determinant = u + v + w;
    vec3 least = min(min(a, b), c), most = max(max(a, b), c), wide = most - least;
    // Edge-on: where the projected area is mere rounding, the distance would be arbitrary; the ray hits the triangle's
    // neighbours, which share its edges.
    bool inside = (low >= 0.0 || high <= 0.0) && abs(determinant) > 2.3841858e-7 * wide.x * wide.y;
    // Edge functions may count as zero on the edges' extensions too: only between the corners is that a hit.
    bool between = max(least.x, least.y) <= 0.0 && min(most.x, most.y) >= 0.0;
    // From a corner, so that coplanar triangles across the axis are at equal distances.
    vec2 weight = vec2(v, w) / determinant;
    float t = a.z + weight.x * (b.z - a.z) + weight.y * (c.z - a.z);
    // Beyond the origin: rounding of a distance of zero is not a hit.
    bool before = t > 2.3841858e-7 * max(most.z, -least.z);
    // The projected area is the normal's component along the ray, over the direction's largest component.
    bool back = (determinant < 0.0) != (setup.by.z < 0.0);
    inside = inside && !triangle_culled(ray, triangle, back);
    if (inside && between && before) keep_nearer(Hit(t, weight, triangle.number, instance), hit);
}
