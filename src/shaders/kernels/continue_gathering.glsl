// A gathering ray goes on where it is reflected or refracted in a single direction. Elsewhere the photons have brought
// all light, and it ends, as it does behind the estimate of caustics, from which no ray has come.
#include "interface/bsdf.glsl"
#include "interface/gather.glsl"
#include "interface/path.glsl"
#include "interface/sampler.glsl"
#include "lib/far.glsl"
#include "lib/gather_number.glsl"
#include "lib/offset_origin.glsl"

int continue_gathering(in Pixel pixel, in Interaction spot, in Path path, inout Path gathering, out Ray ray) {
    int number = gather_number(gather_rays, path.number, max(gathering.number, 0));
    int surface = 32 + gathering.depth % 32;  // behind those that a gather may begin at
    int dimension = gather_dimension(gather_rays, path.number, max(gathering.number, 0), surface);
    vec2 direction = sample_2d(pixel.at, number, dimension), other = sample_2d(pixel.at, number, dimension + 2);
    ray = Ray(vec3(0.0), FAR, vec3(0.0, 0.0, 1.0), 0);
#ifdef HAVE_BLEND
    ray.any_hit += 2 * (path.number & 65535);
#endif
    vec3 weight = vec3(0.0);
    float pdf = 0.0;
    bool scattered = bsdf_sample(spot, spot.wo, vec3(direction, other.x), ray.direction, weight, pdf);
    gathering.throughput *= weight;
    gathering.depth += 1;
    ray.origin = offset_origin(spot.position, spot.normal, ray.direction, spot.error);
#ifdef HAVE_SHEETS
    ray.origin += bsdf_shift(spot, ray.direction);
#endif
    bool goes = gathering.number >= 0 && scattered && pdf == 0.0 && gathering.depth < path_depth;
    return goes && any(greaterThan(gathering.throughput, vec3(0.0))) ? EXIT_RAY : EXIT_END;
}
