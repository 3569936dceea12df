// A gathering ray goes on as continue_gathering.glsl has it, or the next begins as gather_ray.glsl has it: the spot is
// where the one has come to, or the surface that gathers, where the number or the depth is below zero.
#include "interface/bsdf.glsl"
#include "interface/gather.glsl"
#include "interface/path.glsl"
#include "interface/sampler.glsl"
#include "lib/far.glsl"
#include "lib/gather_number.glsl"
#include "lib/offset_origin.glsl"

int gather_on(in Pixel pixel, in Interaction spot, in Path path, inout Path gathering, out Ray ray) {
    bool begins = gathering.number < 0 || gathering.depth < 0;
    gathering.number += begins ? 1 : 0;
    int number = gather_number(gather_rays, path.number, gathering.number);
    int surface = begins ? path.depth : 32 + gathering.depth % 32;
    int dimension = gather_dimension(gather_rays, path.number, gathering.number, surface);
    vec2 direction = sample_2d(pixel.at, number, dimension), other = sample_2d(pixel.at, number, dimension + 2);
    ray = Ray(vec3(0.0), FAR, vec3(0.0, 0.0, 1.0), 0);
#ifdef HAVE_BLEND
    ray.any_hit += 2 * (path.number & 65535);
#endif
    vec3 weight = vec3(0.0);
    float pdf = 0.0;
    bool scattered = bsdf_sample(spot, spot.wo, vec3(direction, other.x), ray.direction, weight, pdf);
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
