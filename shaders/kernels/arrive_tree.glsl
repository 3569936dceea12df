// As arrive.glsl, where lights are chosen by a light tree: how likely one is found depends on the surface that the path
// comes from, which the interaction still is.
#include "interface/cone.glsl"
#include "interface/environment.glsl"
#include "interface/light.glsl"
#include "interface/light_emitter.glsl"
#include "interface/material.glsl"
#include "interface/media.glsl"
#include "interface/path.glsl"
#include "lib/light_receiver.glsl"

int arrive_tree(
    in Ray ray, in Hit hit, in Path path, in Media media, inout Radiance radiance, inout Interaction interaction
) {
    vec3 emission;
    float other = 0.0;  // density with which light sampling finds this, per solid angle
    bool missed = hit.triangle < 0;
    // After a mirror, and from the camera, nothing else finds it.
    bool alone = path.pdf <= 0.0 || path_strategy == PATH_BSDF;
    vec3 from = interaction.position;
    light_receiver = receiver_of(interaction);
    interaction = interaction_nowhere(-ray.direction);
    if (missed) {
        emission = environment_radiance(ray.direction);
        other = environment_pdf(ray.direction, path_strategy == PATH_BOTH);
    } else {
        float per_area;
        interaction = interaction_at(ray, hit, cone_width(path.cone, ray.origin, hit.t), emission, per_area);
        media_surround(media, interaction);
        if (per_area > 0.0 && !alone) other = emitter_density(hit, from);
        other *= hit.t * hit.t / max(abs(dot(interaction.normal, ray.direction)), 1e-20);
    }
    float weight = alone ? 1.0 : mis_weight(path.pdf, other);
    if (!alone && path_strategy == PATH_LIGHTS) weight = other > 0.0 ? 0.0 : 1.0;
    if (path_counts(path.depth)) radiance.rgb += path.throughput * emission * weight;
    return missed || path.depth >= path_depth ? EXIT_END : EXIT_SURFACE;
}
