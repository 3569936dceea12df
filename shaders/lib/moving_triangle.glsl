// The corners of a deforming triangle at the time of a ray, linear between those of its keys; of others as they
// are.
#ifdef HAVE_DEFORMING
// Needs the memory triangle_keys and the uniform int triangle_segments, keys less one.
#include "lib/moment.glsl"

Triangle triangle_at(Ray ray, Triangle triangle) {
    if (triangle.keys < 0) return triangle;
    float share;
    int key = triangle.keys + key_before(moment_of(ray), triangle_segments, share);
    TriangleKey first = fetch_triangle_keys(key), last = fetch_triangle_keys(key + 1);
    triangle.a = first.a + share * (last.a - first.a);
    triangle.b = first.b + share * (last.b - first.b);
    triangle.c = first.c + share * (last.c - first.c);
    return triangle;
}
#else
Triangle triangle_at(Ray ray, Triangle triangle) { return triangle; }
#endif
