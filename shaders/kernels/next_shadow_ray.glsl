// The next shadow ray of a surface, of path_light_samples: each to a point of a light that is chosen by power, behind
// which an equal share of the direct light waits (R. L. Cook et al., "Distributed Ray Tracing", 1984). All samples of a
// pixel take their points from one sequence.
#include "interface/bsdf.glsl"
#include "interface/light.glsl"
#include "interface/media.glsl"
#include "interface/path.glsl"
#include "interface/sampler.glsl"
#include "lib/light_context_at.glsl"
#include "lib/path_moment.glsl"
#include "lib/shadow_ray.glsl"

int next_shadow_ray(
    in Pixel pixel, in Interaction interaction, in Path path, in Media media, inout Tree tree, inout Ray ray,
    out Radiance pending
) {
    pending.rgb = vec3(0.0);
    enter_time(pixel.at, path.number);
    int number = (path.number * path_light_samples + tree.light) & 65535;
    int dimension = surface_dimension(path.depth);
    bool samples_light = !bsdf_delta(interaction) && path_counts(path.depth + 1) && tree.light < path_light_samples;
    float choose = sample_1d(pixel.at, number, dimension + DIMENSION_LIGHT);
    light_choose(light_context_at(interaction), choose, samples_light);
    if (!samples_light) {
        tree.light = 0;
        return EXIT_END;
    }
    tree.light += 1;
    LightSample light;
    vec2 point = sample_2d(pixel.at, number, dimension + DIMENSION_POINT);
    if (!light_sample(interaction.position, choose, point, false, light)) return EXIT_AGAIN;
    pending.rgb = path.throughput * light.weight * bsdf_value(interaction, interaction.wo, light.direction);
    pending.rgb *= 1.0 / float(path_light_samples);
    if (all(equal(pending.rgb, vec3(0.0)))) return EXIT_AGAIN;
    ray = shadow_ray(interaction, light.direction, light.distance, path.number);
    pending.rgb = media_transmitted(media, interaction, ray.direction, ray.t_max, pending.rgb);
    return EXIT_SHADOW;
}
