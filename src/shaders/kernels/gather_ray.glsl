// The next of a surface's gathering rays, by its BSDF (Purcell 2004, section 6.4.5; H. W. Jensen 2001, section 7.3).
// What it reflects as a mirror is left out: reflected rays bring that.
#include "interface/bsdf.glsl"
#include "interface/gather.glsl"
#include "interface/sampler.glsl"
#include "lib/far.glsl"
#include "lib/gather_number.glsl"
#include "lib/offset_origin.glsl"

int gather_ray(in Pixel pixel, in Interaction interaction, in Path path, inout Path gathering, out Ray ray) {
    gathering.number += 1;
    gathering.depth = 0;
    int number = gather_number(gather_rays, path.number, gathering.number);
    int dimension = gather_dimension(gather_rays, path.number, gathering.number, path.depth);
    vec2 direction = sample_2d(pixel.at, number, dimension), other = sample_2d(pixel.at, number, dimension + 2);
    ray = Ray(vec3(0.0), FAR, vec3(0.0, 0.0, 1.0), 0);
#ifdef HAVE_BLEND
    ray.any_hit += 2 * (path.number & 65535);
#endif
    vec3 weight = vec3(0.0);
    float pdf = 0.0;
    bool scattered = bsdf_sample(interaction, interaction.wo, vec3(direction, other.x), ray.direction, weight, pdf);
    gathering.throughput = path.throughput * weight / float(gather_rays);
    ray.origin = offset_origin(interaction.position, interaction.normal, ray.direction, interaction.error);
    if (gathering.number >= gather_rays) return EXIT_END;
    return scattered && pdf > 0.0 && any(greaterThan(gathering.throughput, vec3(0.0))) ? EXIT_RAY : EXIT_AGAIN;
}
