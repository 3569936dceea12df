// The cosine between a ray and the surface that it hits.
#include "interface/geometry.glsl"

int face_camera(in Ray ray, in Hit hit, inout Radiance radiance) {
    if (hit.triangle >= 0) radiance.rgb += vec3(abs(dot(geometry_at(ray, hit).normal, ray.direction)));
    return EXIT_DONE;
}
