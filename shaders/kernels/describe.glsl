// The surface that a ray hits, for the picture's layers: zeros where nothing is hit.
#include "interface/surface.glsl"

int describe(in Ray ray, in Hit hit, out Surface surface) {
    surface = Surface(vec3(0.0), vec3(0.0), 0);
    if (hit.triangle >= 0) surface = surface_at(ray, hit);
    return EXIT_DONE;
}
