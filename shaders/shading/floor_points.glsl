// Points of lights as candidates beside the environment's light on the floor: kernels/see_floor.glsl.
#include "interface/floor_light.glsl"
#include "interface/light.glsl"
#include "interface/sampler.glsl"
#include "lib/luminance.glsl"

const vec2 FLOOR_POINT_STEP = vec2(1.0 / float(FLOOR_POINTS), 0.61803399);
const int FLOOR_LIGHT_STEP = 5;  // in the same steps: no divisor of their number
const float MAX_FLOOR_WEIGHT = 1e30;  // of a weight: sums of them are finite

// Resamples among points of lights and the direction given, whose weight `total` is at first.
void choose_floor_point(
    ivec2 pixel, int sample_number, vec3 at, vec2 point, inout float total, inout vec3 direction, inout float distance
) {
    vec2 choose = sample_2d(pixel, sample_number, surface_dimension(0) + DIMENSION_LIGHT);
    float environment_share = float(environment_levels) / 16777216.0, share = (1.0 - environment_share) / float(FLOOR_POINTS);
    int number = 0;
    LightContext context = light_context(at, vec4(0.0, 1.0, 0.0, 0.0));
    do {
        LightSample light;
        float offset = fract(choose.x + float(number * FLOOR_LIGHT_STEP) / float(FLOOR_POINTS));
        float light_choice = min(environment_share + (1.0 - environment_share) * offset, 0.99999994);
        light_choose(context, light_choice, true);
        bool valid = light_sample(at, light_choice, fract(point + float(number) * FLOOR_POINT_STEP), false, light);
        float weight = valid ? dot(light.weight, LUMINANCE) * max(light.direction.y, 0.0) * share : 0.0;
        weight = weight > 0.0 ? min(weight, MAX_FLOOR_WEIGHT) : 0.0;
        total += weight;
        float probability = total > 0.0 ? weight / total : 0.0;
        bool is_chosen = choose.y < probability;
        choose.y = is_chosen ? choose.y / probability : (choose.y - probability) / (1.0 - probability);
        if (is_chosen) {
            direction = light.direction;
            distance = light.distance;
        }
        number += 1;
    } while (number < FLOOR_POINTS);
}
