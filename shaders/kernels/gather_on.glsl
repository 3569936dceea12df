// A gathering ray goes on as continue_gathering.glsl has it, or the next begins as gather_ray.glsl has it: the spot is
// where the one has come to, or the surface that gathers, where the number or the depth is below zero.
#include "interface/bsdf.glsl"
#include "interface/gather.glsl"
#include "interface/path.glsl"
#include "lib/gathered_ray.glsl"
#include "lib/offset_origin.glsl"

int gather_on(in Pixel pixel, in Interaction spot, in Path path, inout Path gathering, out Ray ray) {
    bool begins = gathering.number < 0 || gathering.depth < 0;
    gathering.number += begins ? 1 : 0;
    vec3 weight;
    float pdf;
    int surface = begins ? path.depth : 32 + gathering.depth % 32;
    bool scattered = gathered_ray(pixel, spot, path.number, gathering.number, surface, ray, weight, pdf);
    vec3 onwards = gathering.throughput * weight;
    gathering.throughput = begins ? path.throughput * weight / float(gather_rays) : onwards;
    gathering.depth = begins ? 0 : gathering.depth + 1;
    ray.origin = offset_origin(spot.position, spot.normal, ray.direction, spot.error);
#ifdef HAVE_SHEETS
    if (!begins) ray.origin += bsdf_shift(spot, ray.direction);
#endif
    bool goes = scattered && (pdf > 0.0) == begins && (begins || gathering.depth < path_depth);
    if (begins && gathering.number >= gather_rays) {
        gathering.number = -1;
        return EXIT_END;
    }
    if (goes && any(greaterThan(gathering.throughput, vec3(0.0)))) return EXIT_RAY;
    gathering.depth = -1;
    return begins ? EXIT_AGAIN : EXIT_PLACE;
}
