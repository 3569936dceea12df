// What the floor mirrors: the model, in place of a part of the backdrop that grows fainter with the height above the
// floor and so has no edge; where it mirrors nothing the floor is not seen.
#include "interface/floor.glsl"
#include "interface/path.glsl"

int meet_mirrored(in Ray ray, in Hit hit, inout Path path, inout Radiance radiance) {
    if (hit.triangle < 0) return EXIT_END;
    float reflectance = floor_mirrors(path.throughput.x, hit.t * ray.direction.y);
    radiance.rgb *= 1.0 - reflectance;
    path.throughput = vec3(reflectance);
    path.depth = 1;
    return EXIT_SURFACE;
}
