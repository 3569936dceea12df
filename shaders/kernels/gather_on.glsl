// A gathering ray goes on where it is reflected or refracted in a single direction; elsewhere the photons have brought all
// light, and it ends. Then the next of the surface's begins, by its BSDF (Purcell 2004, section 6.4.5; H. W. Jensen 2001,
// section 7.3), without what that reflects as a mirror, which reflected rays bring. The spot is where the one has come
// to, or the surface that gathers: before the first, and where the depth is below zero.
#include "interface/bsdf.glsl"
#include "interface/gather.glsl"
#include "interface/media.glsl"
#include "interface/path.glsl"
#include "lib/gathered_ray.glsl"
#include "lib/leaving_origin.glsl"

int gather_on(
    in Pixel pixel, in Interaction spot, in Path path, in Media media, inout Path gathering, inout Media around, out Ray ray
) {
    bool begins = gathering.number == -1 || gathering.depth < 0;
    gathering.number -= begins ? 1 : 0;
    int ray_index = gathering_index(gathering);
    vec3 weight;
    float pdf;
    int surface = begins ? path.depth : 32 + gathering.depth % 32;  // those behind are apart from those that begin it
    bool scattered = gathered_ray(pixel, spot, path.number, ray_index, surface, ray, weight, pdf);
    vec3 continued = gathering.throughput * weight;
    gathering.throughput = begins ? path.throughput * weight / float(gather_rays) : continued;
    gathering.depth = begins ? 0 : gathering.depth + 1;
    ray.origin = leaving_origin(spot, ray.direction);
    if (begins) around = media;
    around = media_behind(around, spot, ray.direction);
    bool goes_on = scattered && (pdf > 0.0) == begins && (begins || gathering.depth < path_depth);
    if (begins && ray_index >= gather_rays) {
        gathering.number = -1;
        return EXIT_END;
    }
    if (goes_on && any(greaterThan(gathering.throughput, vec3(0.0)))) return EXIT_RAY;
    gathering.depth = -1;
    return begins ? EXIT_AGAIN : EXIT_PLACE;
}
