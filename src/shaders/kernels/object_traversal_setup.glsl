// Takes a ray into the space of an instance's object, and sets up its walk there.
#include "interface/accel.glsl"
#include "interface/instance.glsl"
#include "interface/top.glsl"
#include "interface/triangle.glsl"

int object_traversal_setup(in Ray ray, in TopTraversal top, out Ray local, out Traversal traversal, out TriangleSetup setup) {
    int object;
    local = object_ray(ray, top_instance(top), object);
    setup = triangle_setup(local);
    return accel_start(local, object, traversal) ? EXIT_TRAVERSE : EXIT_MISS;
}
