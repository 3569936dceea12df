// What the volume takes of the light that comes along a ray.
#include "interface/volume.glsl"

int absorb(in Ray ray, in Hit hit, inout Path path) {
    if (hit.triangle >= 0) path.throughput *= volume_transmittance(ray, hit);
    return EXIT_DONE;
}
