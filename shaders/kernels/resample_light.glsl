// Chooses one of several points of lights by what it would bring if nothing were in the way, and prepares its shadow ray:
// resampled importance sampling (J. Talbot, D. Cline and P. Egbert, "Importance Resampling for Global Illumination",
// 2005), candidate by candidate as a reservoir (M. T. Chao 1982). What a candidate would bring has its weight beside BSDF
// sampling; weights of the two strategies add up to 1 whatever is resampled, so that the sum stays unbiased.
// Candidates are apart by a lattice from the first: each alone is as likely as it is without the others, which is all
// that the mean of their weights asks for, and they do not fall together. One number chooses, again and again: what is
// left of it is as good as a new one.
#include "interface/bsdf.glsl"
#include "interface/candidates.glsl"
#include "interface/light.glsl"
#include "interface/media.glsl"
#include "interface/path.glsl"
#include "interface/sampler.glsl"
#include "lib/light_context_at.glsl"
#include "lib/luminance.glsl"
#include "lib/path_moment.glsl"
#include "lib/shadow_ray.glsl"

// The R2 sequence: M. Roberts, "The Unreasonable Effectiveness of Quasirandom Sequences" (2018).
const vec2 CANDIDATE_STEP = vec2(0.75487767, 0.56984029);
const float MAX_CANDIDATE_WEIGHT = 1e30;  // of a weight: sums of them are finite

int resample_light(
    in Pixel pixel, in Interaction interaction, in Path path, in Media media, inout Ray ray, out Radiance pending
) {
    enter_time(pixel.at, path.number);
    vec3 contribution = vec3(0.0), direction = vec3(0.0, 1.0, 0.0);
    float distance = 0.0, chosen_weight = 0.0, weight_sum = 0.0;
    int dimension = surface_dimension(path.depth), candidate = 0;
    vec2 choose = sample_2d(pixel.at, path.number, dimension + DIMENSION_LIGHT);
    vec2 point = sample_2d(pixel.at, path.number, dimension + DIMENSION_POINT);
    LightContext context = light_context_at(interaction);
    bool both_strategies = path_strategy == PATH_BOTH;
    if (!bsdf_delta(interaction) && path_strategy != PATH_BSDF && path_counts(path.depth + 1)) {
        do {
            LightSample light;
            float pdf, offset = float(candidate) / float(light_candidates);
            vec2 u = fract(point + float(candidate) * CANDIDATE_STEP);
            light_choose(context, fract(choose.x + offset), true);
            bool valid = light_sample(interaction.position, fract(choose.x + offset), u, both_strategies, light);
            vec3 unshadowed = light.weight * bsdf_evaluate(interaction, interaction.wo, light.direction, pdf);
            if (light.pdf > 0.0 && both_strategies) unshadowed *= mis_weight(light.pdf, pdf);
            float weight = dot(unshadowed, LUMINANCE);
            weight = valid && weight > 0.0 ? min(weight, MAX_CANDIDATE_WEIGHT) : 0.0;
            weight_sum += weight;
            float probability = weight_sum > 0.0 ? weight / weight_sum : 0.0;
            bool is_chosen = choose.y < probability;
            choose.y = is_chosen ? choose.y / probability : (choose.y - probability) / (1.0 - probability);
            if (is_chosen) {
                contribution = unshadowed;
                direction = light.direction;
                distance = light.distance;
                chosen_weight = weight;
            }
            candidate += 1;
        } while (candidate < light_candidates);
    }
    pending.rgb = path.throughput * contribution * (chosen_weight > 0.0 ? weight_sum / (float(light_candidates) * chosen_weight) : 0.0);
    if (all(equal(pending.rgb, vec3(0.0)))) return EXIT_NONE;
    ray = shadow_ray(interaction, direction, distance, path.number);
    pending.rgb = media_transmitted(media, interaction, ray.direction, ray.t_max, pending.rgb);
    return EXIT_SHADOW;
}
