// Chooses a light and a point of it, and prepares the shadow ray: next-event estimation.
// The light's contribution waits until the shadow ray is back.
#include "interface/bsdf.glsl"
#include "interface/light.glsl"
#include "interface/media.glsl"
#include "interface/path.glsl"
#include "interface/sampler.glsl"
#include "lib/light_context_at.glsl"
#include "lib/path_moment.glsl"
#include "lib/shadow_ray.glsl"

int sample_light(
    in Pixel pixel, in Interaction interaction, in Path path, in Media media, inout Ray ray, out Radiance pending
) {
    pending.rgb = vec3(0.0);
    enter_time(pixel.at, path.number);
    int dimension = surface_dimension(path.depth);
    bool samples_light = !bsdf_delta(interaction) && path_strategy != PATH_BSDF && path_counts(path.depth + 1);
    float choose = sample_1d(pixel.at, path.number, dimension + DIMENSION_LIGHT);
    light_choose(light_context_at(interaction), choose, samples_light);
    if (!samples_light) return EXIT_NONE;
    LightSample light;
    vec2 point = sample_2d(pixel.at, path.number, dimension + DIMENSION_POINT);
    if (!light_sample(interaction.position, choose, point, path_strategy == PATH_BOTH, light)) return EXIT_NONE;
    float pdf;
    pending.rgb = path.throughput * light.weight * bsdf_evaluate(interaction, interaction.wo, light.direction, pdf);
    if (light.pdf > 0.0 && path_strategy == PATH_BOTH) pending.rgb *= mis_weight(light.pdf, pdf);
    if (all(equal(pending.rgb, vec3(0.0)))) return EXIT_NONE;
    ray = shadow_ray(interaction, light.direction, light.distance, path.number);
    pending.rgb = media_transmitted(media, interaction, ray.direction, ray.t_max, pending.rgb);
    return EXIT_SHADOW;
}
