// The test of a candidate of either kind, in scenes with quadrics beside triangles: a row of the triangles' table with
// number -n - 1 stands for quadric n.
#include "interface/triangle.glsl"
#include "interface/quadric.glsl"

void triangle_test(Ray ray, TriangleSetup setup, int address, int instance, inout Hit hit) {
    int number = fetch_triangles(address).number;
    if (number < 0) quadric_test(ray, -number - 1, instance, hit);
    else polygon_test(ray, setup, address, instance, hit);
}
