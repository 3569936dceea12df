// Rays in the space of an instance's object. Subtracting the object's position from the ray's origin first loses no
// digits to a large translation.
#include "interface/instance.glsl"
#include "lib/moving_instance.glsl"

// The ray of the world in the space of an instance's object; object: its number.
Ray object_ray(Ray ray, int instance, out int object) {
    Instance placement = instance_of_ray(ray, fetch_instances(instance));
    object = placement.object;
    vec3 origin = ray.origin - vec3(placement.inverse_x.w, placement.inverse_y.w, placement.inverse_z.w);
    mat3 inverse = mat3(placement.inverse_x.xyz, placement.inverse_y.xyz, placement.inverse_z.xyz);  // its columns are the map's rows
    ray.origin = origin * inverse;
    ray.direction = ray.direction * inverse;
    return ray;
}
