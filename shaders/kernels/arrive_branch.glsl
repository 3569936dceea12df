// Where a ray of a shade tree arrives: adds what is emitted there, and finds what the surface is. What a gathering ray
// meets does not count: shadow rays have brought it, or, over mirrors and glass, caustic photons.
#include "interface/cone.glsl"
#include "interface/environment.glsl"
#include "interface/material.glsl"
#include "interface/media.glsl"
#include "interface/path.glsl"

int arrive_branch(
    in Ray ray, in Hit hit, in Path path, in Media media, inout Radiance radiance, out Interaction interaction
) {
    vec3 emission;
    bool missed = hit.triangle < 0;
    if (!missed) {  // first, as in arrive.glsl
        float light_pdf;
        interaction = interaction_at(ray, hit, cone_width(path.cone, ray.origin, hit.t), emission, light_pdf);
        media_surround(media, interaction);
    } else {
        interaction = interaction_nowhere(-ray.direction);
        emission = environment_radiance(ray.direction);
    }
    if (path.number >= 0 && path_counts(path.depth)) radiance.rgb += path.throughput * emission;
    return missed || path.depth >= path_depth ? EXIT_END : EXIT_SURFACE;
}
