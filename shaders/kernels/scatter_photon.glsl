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
    vec2 lobe_u = sample_2d(photon_pixel(number), photon_sample(number), dimension + DIMENSION_LOBE);
    vec3 weight, wi;
    float pdf;
    path.depth += 1;
    bool scatters = path.depth <= photon_bounces;
    scatters = scatters && bsdf_sample(interaction, interaction.wo, vec3(direction, lobe_u.x), wi, weight, pdf);
    if (!scatters || (photon_kinds == PHOTON_CAUSTIC && pdf > 0.0)) {
        path.throughput = vec3(0.0);
        return EXIT_DONE;
    }
    if (pdf > 0.0) path.pdf = 1.0;
    float cos_o = dot(interaction.shading, interaction.wo), cos_i = dot(interaction.shading, wi);
    if (cos_o * cos_i < 0.0) {
        float index = bsdf_index(interaction), ratio = cos_o >= 0.0 ? index : 1.0 / index;
        weight *= ratio * ratio;
    }
    if (!bsdf_delta(interaction)) {
        float incident = abs(cos_o * dot(interaction.normal, wi));
        weight *= incident / max(abs(cos_i * dot(interaction.normal, interaction.wo)), 1e-4 * incident + 1e-20);
    }
    float survival = min(max(weight.x, max(weight.y, weight.z)), 1.0);
    if (!(lobe_u.y < survival)) {
        path.throughput = vec3(0.0);
        return EXIT_DONE;
    }
    path.throughput *= weight / survival;
#ifdef HAVE_MOTION
    ray = Ray(vec3(0.0), FAR, wi, ray.any_hit);  // the photon's time
#else
    ray = Ray(vec3(0.0), FAR, wi, 0);
#endif
    ray.origin = leaving_origin(interaction, wi);
    media = media_behind(media, interaction, wi);
    return EXIT_DONE;
}
