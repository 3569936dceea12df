// As absorb_nested.glsl, for photons: whose density tells whether they have met specular surfaces alone.
#include "lib/cross_media.glsl"

int absorb_photon_nested(inout Ray ray, in Hit hit, inout Path path, inout Media media) {
    if (hit.triangle < 0) return EXIT_DONE;
    vec3 left;
    bool passes = cross_media(ray, hit, media.inside, left);
    path.throughput *= left;
    return passes ? EXIT_PASS : EXIT_DONE;
}
