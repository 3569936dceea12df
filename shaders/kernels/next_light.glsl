// The next light of a surface: prepares its shadow ray, behind which what it brings waits. T. Whitted, "An Improved
// Illumination Model for Shaded Display" (1980): at each hit a ray to every light.
// Of what shines by its surface path_light_samples points are asked in turn (R. L. Cook et al., 1984).
// What the environment brings beside its suns is ambient light, which nothing hides, as in that paper.
#include "interface/bsdf.glsl"
#include "interface/light_each.glsl"
#include "interface/media.glsl"
#include "interface/path.glsl"
#include "interface/sampler.glsl"
#include "interface/whitted.glsl"
#include "lib/path_moment.glsl"
#include "lib/shadow_ray.glsl"

int next_light(
    in Pixel pixel, in Interaction interaction, in Path path, in Media media, inout Tree tree,
    inout Radiance radiance, out Ray ray, out Radiance pending
) {
    ray = Ray(vec3(0.0), 0.0, vec3(0.0), 0);  // what has led here is not asked for any more
    enter_time(pixel.at, path.number);
    pending.rgb = vec3(0.0);
    int index = tree.light / path_light_samples, sample_index = tree.light - index * path_light_samples;
    bool receives_light = !bsdf_delta(interaction) && path_counts(path.depth + 1);
    if (!receives_light || index >= each_light_count()) {
        if (receives_light) {
            vec3 side_normal = dot(interaction.shading, interaction.wo) < 0.0 ? -interaction.shading : interaction.shading;
            vec3 scattered = bsdf_reflectance(interaction) * ambient_irradiance(side_normal) * 0.31830989;
            radiance.rgb += path.throughput * scattered;
        }
        tree.light = 0;
        return EXIT_END;
    }
    tree.light += 1;
    int dimension = surface_dimension(path.depth);
    int number = (path.number * path_light_samples + sample_index) & 65535;
    float choose = sample_1d(pixel.at, number, dimension + DIMENSION_LIGHT);
    vec2 point = sample_2d(pixel.at, number, dimension + DIMENSION_POINT);
    LightSample light;
    if (!each_light_sample(index, interaction.position, choose, point, light)) return EXIT_AGAIN;
    pending.rgb = path.throughput * light.weight * bsdf_value(interaction, interaction.wo, light.direction);
    if (light.pdf > 0.0) pending.rgb *= 1.0 / float(path_light_samples);
    else tree.light = (index + 1) * path_light_samples;  // without extent: one ray tells all
    if (all(equal(pending.rgb, vec3(0.0)))) return EXIT_AGAIN;
    if (whitted_shadows == 0) {
        radiance.rgb += pending.rgb;
        return EXIT_AGAIN;
    }
    ray = shadow_ray(interaction, light.direction, light.distance, path.number);
    pending.rgb = media_transmitted(media, interaction, ray.direction, ray.t_max, pending.rgb);
    return EXIT_SHADOW;
}
