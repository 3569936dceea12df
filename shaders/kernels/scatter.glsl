// Chooses where the path goes on, or ends it. Russian roulette: J. Arvo and D. Kirk, "Particle Transport and Image
// Synthesis" (1990). A path goes on with the root of its throughput, which leaves less variance than the throughput
// itself: what is dim as a picture shows it is not as rare.
#include "interface/bsdf.glsl"
#include "interface/cone.glsl"
#include "interface/media.glsl"
#include "interface/path.glsl"
#include "interface/sampler.glsl"
#include "lib/far.glsl"
#include "lib/leaving_origin.glsl"
#include "lib/light_context_at.glsl"
#include "lib/path_moment.glsl"
#include "lib/ray_tag.glsl"

int scatter(
    in Pixel pixel, in Interaction interaction, inout Path path, inout Media media, out LightContext context, out Ray ray
) {
    int dimension = surface_dimension(path.depth);
    vec2 direction = sample_2d(pixel.at, path.number, dimension + DIMENSION_BSDF);
    vec2 lobe_u = sample_2d(pixel.at, path.number, dimension + DIMENSION_LOBE);  // and the roulette behind it
    vec3 weight;
    path.depth += 1;
    ray = Ray(vec3(0.0), FAR, vec3(0.0, 0.0, 1.0), 0);
    bool is_view = path.pdf == 0.0;
    bool valid = bsdf_sample(interaction, interaction.wo, vec3(direction, lobe_u.x), ray.direction, weight, path.pdf);
    context = light_context_at(interaction);
    if (!valid) return EXIT_END;
    path.throughput *= weight;
    path.cone = cone_scattered(path.cone, path.pdf);
    is_view = path.pdf == 0.0 && is_view;
    ray.any_hit = ray_tag(path.number, is_view) + enter_time(pixel.at, path.number);
    if (path.pdf == 0.0 && !is_view) path.pdf = -1.0;  // a path that has scattered once is no view
    float brightest = max(path.throughput.x, max(path.throughput.y, path.throughput.z));
    if (path.depth >= path_roulette) {
        float survival = min(sqrt(brightest), 0.98);
        if (!(lobe_u.y < survival)) return EXIT_END;
        path.throughput /= survival;
    }
    ray.origin = leaving_origin(interaction, ray.direction);
    media = media_behind(media, interaction, ray.direction);
    return brightest > 0.0 ? EXIT_RAY : EXIT_END;
}
