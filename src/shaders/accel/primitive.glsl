// The test of a candidate of either kind, in scenes that hold quadrics beside triangles: a row of the triangles' table
// whose number is -n - 1 stands for quadric n.
#include "interface/triangle.glsl"
#include "interface/quadric.glsl"

void triangle_test(Ray ray, TriangleSetup setup, int address, int instance, inout Hit hit) {
    int number = fetch_triangles(address).number;
    if (number < 0) quadric_test(ray, -number - 1, instance, hit);
    else polygon_test(ray, setup, address, instance, hit);
}
