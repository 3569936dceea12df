// Where a path arrives: adds what is emitted there, and finds what the surface is.
// Light that could have been sampled at the last surface, too, is weighed (Veach 1997, chapter 9).
#include "interface/cone.glsl"
#include "interface/environment.glsl"
#include "interface/light.glsl"
#include "interface/light_emitter.glsl"
#include "interface/material.glsl"
#include "interface/media.glsl"
#include "interface/path.glsl"

int arrive(
    in Ray ray, in Hit hit, in Path path, in Media media, in LightContext context, inout Radiance radiance,
    out Interaction interaction
) {
    vec3 emission;
    float light_density = 0.0;  // density with which light sampling finds this, per solid angle
    bool missed = hit.triangle < 0;
    bool bsdf_only = path.pdf <= 0.0 || path_strategy == PATH_BSDF;  // nothing else finds it: after a mirror, from the camera
    if (!missed) {  // first: some compilers keep registers for what the first branch sets all through the second
        float light_pdf;
        interaction = interaction_at(ray, hit, cone_width(path.cone, ray.origin, hit.t), emission, light_pdf);
        media_surround(media, interaction);
        float facing = abs(dot(interaction.normal, ray.direction));
        if (!bsdf_only) light_density = emitter_pdf(context, hit, light_pdf, facing);
    } else {
        interaction = interaction_nowhere(-ray.direction);
        emission = environment_radiance(ray.direction);
        light_density = environment_pdf(ray.direction, path_strategy == PATH_BOTH);
    }
    float weight = bsdf_only ? 1.0 : mis_weight(path.pdf, light_density);
    if (!bsdf_only && path_strategy == PATH_LIGHTS) weight = light_density > 0.0 ? 0.0 : 1.0;
    if (path_counts(path.depth)) radiance.rgb += path.throughput * emission * weight;
    return missed || path.depth >= path_depth ? EXIT_END : EXIT_SURFACE;
}
