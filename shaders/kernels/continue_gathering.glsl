// A gathering ray goes on where it is reflected or refracted in a single direction. Elsewhere the photons have brought
// all light, and it ends, as it does behind the estimate of caustics, from which no ray has come.
#include "interface/bsdf.glsl"
#include "interface/media.glsl"
#include "interface/path.glsl"
#include "lib/gathered_ray.glsl"
#include "lib/leaving_origin.glsl"

int continue_gathering(
    in Pixel pixel, in Interaction spot, in Path path, inout Path gathering, inout Media around, out Ray ray
) {
    vec3 weight;
    float pdf;
    int surface = 32 + gathering.depth % 32;  // behind those that a gather may begin at
    int ray_index = gathering_index(gathering);
    bool scattered = gathered_ray(pixel, spot, path.number, max(ray_index, 0), surface, ray, weight, pdf);
    gathering.throughput *= weight;
    gathering.depth += 1;
    ray.origin = leaving_origin(spot, ray.direction);
    around = media_behind(around, spot, ray.direction);
    bool goes_on = ray_index >= 0 && scattered && pdf == 0.0 && gathering.depth < path_depth;
    return goes_on && any(greaterThan(gathering.throughput, vec3(0.0))) ? EXIT_RAY : EXIT_END;
}
