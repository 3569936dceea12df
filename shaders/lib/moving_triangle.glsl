// The corners of a deforming triangle at the time of a ray, linear between those of its keys; of others as they
// are.
#ifdef HAVE_DEFORMING
// Needs the memory triangle_keys and the uniform int triangle_segments, keys less one.
#include "lib/moment.glsl"

// A triangle at the time of a ray.
Triangle triangle_at(Ray ray, Triangle triangle) {
    if (triangle.keys < 0) return triangle;
    float fraction;
    int key = triangle.keys + key_before(moment_of(ray), triangle_segments, fraction);
    TriangleKey first_key = fetch_triangle_keys(key), next_key = fetch_triangle_keys(key + 1);
    triangle.a = first_key.a + fraction * (next_key.a - first_key.a);
    triangle.b = first_key.b + fraction * (next_key.b - first_key.b);
    triangle.c = first_key.c + fraction * (next_key.c - first_key.c);
    return triangle;
}
#else
Triangle triangle_at(Ray ray, Triangle triangle) { return triangle; }
#endif
