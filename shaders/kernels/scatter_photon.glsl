// Where a photon goes on, or that it is absorbed: Russian roulette by what the surface leaves of its power, so that
// photons stay about as strong as they were (Jensen 2001, section 5.2).
// Power is not radiance: it is not scaled where it crosses into another index, and a shading normal weighs it otherwise
// (Veach 1997, sections 5.2 and 5.3.2). Dimensions as in kernels/scatter.glsl.
#include "interface/bsdf.glsl"
#include "interface/media.glsl"
#include "interface/photon.glsl"
#include "interface/sampler.glsl"
#include "lib/far.glsl"
#include "lib/leaving_origin.glsl"

int scatter_photon(in Pixel pixel, in Interaction interaction, inout Path path, inout Media media, inout Ray ray) {
    int dimension = surface_dimension(path.depth);
    int number = photon_number(pixel.at);
    vec2 direction = sample_2d(photon_pixel(number), photon_sample(number), dimension + DIMENSION_BSDF);
    vec2 other = sample_2d(photon_pixel(number), photon_sample(number), dimension + DIMENSION_LOBE);
    vec3 weight, wi;
    float pdf;
    path.depth += 1;
    bool leaves = path.depth <= photon_bounces;
    leaves = leaves && bsdf_sample(interaction, interaction.wo, vec3(direction, other.x), wi, weight, pdf);
    if (!leaves || (photon_kinds == PHOTON_CAUSTIC && pdf > 0.0)) {
        path.throughput = vec3(0.0);
        return EXIT_DONE;
    }
    if (pdf > 0.0) path.pdf = 1.0;
    float here = dot(interaction.shading, interaction.wo), there = dot(interaction.shading, wi);
    if (here * there < 0.0) {
        float index = bsdf_index(interaction), ratio = here >= 0.0 ? index : 1.0 / index;
        weight *= ratio * ratio;
    }
    if (!bsdf_delta(interaction)) {
        float slanted = abs(here * dot(interaction.normal, wi));
        weight *= slanted / max(abs(there * dot(interaction.normal, interaction.wo)), 1e-4 * slanted + 1e-20);
    }
    float survives = min(max(weight.x, max(weight.y, weight.z)), 1.0);
    if (!(other.y < survives)) {
        path.throughput = vec3(0.0);
        return EXIT_DONE;
    }
    path.throughput *= weight / survives;
#ifdef HAVE_MOTION
    ray = Ray(vec3(0.0), FAR, wi, ray.any_hit);  // the photon's time
#else
    ray = Ray(vec3(0.0), FAR, wi, 0);
#endif
    ray.origin = leaving_origin(interaction, wi);
    media = media_behind(media, interaction, wi);
    return EXIT_DONE;
}
