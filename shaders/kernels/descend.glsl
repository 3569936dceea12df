// Takes a ray into the space of an instance's object, and sets up its walk there.
#include "interface/accel.glsl"
#include "interface/instance.glsl"
#include "interface/top.glsl"
#include "interface/triangle.glsl"

int descend(in Ray ray, in Top top, out Ray local, out Walk walk, out Shear shear) {
    int object;
    local = object_ray(ray, top_instance(top), object);
    shear = triangle_shear(local);
    return accel_enter(local, object, walk) ? EXIT_WALK : EXIT_MISS;
}
