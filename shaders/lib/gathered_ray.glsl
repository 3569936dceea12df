// A final-gather ray that leaves a surface in a direction of its BSDF.
#include "interface/bsdf.glsl"
#include "interface/gather.glsl"
#include "interface/sampler.glsl"
#include "lib/far.glsl"
#include "lib/gather_number.glsl"
#include "lib/path_moment.glsl"
#include "lib/ray_tag.glsl"

// The ray of a number within a sample, at a given surface; the caller sets its origin. Returns whether it is scattered,
// its throughput, and the density: 0 for a delta direction.
bool gathered_ray(
    Pixel pixel, Interaction at, int sample_number, int ray_number, int surface,
    out Ray ray, out vec3 weight, out float pdf
) {
    int number = gather_number(gather_rays, sample_number, ray_number);
    int dimension = gather_dimension(gather_rays, sample_number, ray_number, surface);
    vec2 direction = sample_2d(pixel.at, number, dimension), other = sample_2d(pixel.at, number, dimension + 2);
    int tag = ray_tag(sample_number, false) + enter_time(pixel.at, sample_number);
    ray = Ray(vec3(0.0), FAR, vec3(0.0, 0.0, 1.0), tag);
    weight = vec3(0.0);
    pdf = 0.0;
    return bsdf_sample(at, at.wo, vec3(direction, other.x), ray.direction, weight, pdf);
}
