// The next of a surface's gathering rays, by its BSDF (Purcell 2004, section 6.4.5; H. W. Jensen 2001, section 7.3).
// What it reflects as a mirror is left out: reflected rays bring that.
#include "interface/gather.glsl"
#include "interface/media.glsl"
#include "lib/gathered_ray.glsl"
#include "lib/offset_origin.glsl"

int gather_ray(
    in Pixel pixel, in Interaction interaction, in Path path, in Media media, inout Path gathering, out Ray ray,
    out Media around
) {
    gathering.number -= 1;
    int ray_index = gathering_index(gathering);
    gathering.depth = 0;
    vec3 weight;
    float pdf;
    bool scattered = gathered_ray(pixel, interaction, path.number, ray_index, path.depth, ray, weight, pdf);
    gathering.throughput = path.throughput * weight / float(gather_rays);
    ray.origin = offset_origin(interaction.position, interaction.normal, ray.direction, interaction.error);
    around = media_behind(media, interaction, ray.direction);
    if (ray_index >= gather_rays) return EXIT_END;
    return scattered && pdf > 0.0 && any(greaterThan(gathering.throughput, vec3(0.0))) ? EXIT_RAY : EXIT_AGAIN;
}
