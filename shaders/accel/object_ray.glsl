// Rays in the space of an instance's object. Subtracting the object's position from the ray's origin first loses no
// digits to a large translation.
#include "interface/instance.glsl"
#include "lib/moving_instance.glsl"

Ray object_ray(Ray ray, int instance, out int object) {
    Instance at = instance_of_ray(ray, fetch_instances(instance));
    object = at.object;
    vec3 origin = ray.origin - vec3(at.inverse_x.w, at.inverse_y.w, at.inverse_z.w);
    mat3 inverse = mat3(at.inverse_x.xyz, at.inverse_y.xyz, at.inverse_z.xyz);  // its columns are the map's rows
    ray.origin = origin * inverse;
    ray.direction = ray.direction * inverse;
    return ray;
}
