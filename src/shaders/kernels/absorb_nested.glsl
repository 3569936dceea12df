// What media take of the light that comes along a ray, where volumes are nested; surfaces that are none let it pass. No
// shadow ray comes through these, so that light behind them is not sampled in another way.
#include "lib/cross_media.glsl"

int absorb_nested(inout Ray ray, in Hit hit, inout Path path, inout Media media) {
    if (hit.triangle < 0) return EXIT_DONE;
    vec3 left;
    bool passes = cross_media(ray, hit, media.inside, left);
    path.throughput *= left;
#ifdef HAVE_CULLED
    if (passes) path.pdf = path.pdf == 0.0 ? 0.0 : -1.0;
#else
    if (passes) path.pdf = 0.0;
#endif
    return passes ? EXIT_PASS : EXIT_DONE;
}
