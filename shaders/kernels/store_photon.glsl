// Where a photon arrives: it is stored at surfaces that are not mirrors or glass alone (Jensen 2001, section 5.2).
#include "interface/bsdf.glsl"
#include "interface/material.glsl"
#include "interface/photon.glsl"

int store_photon(in Ray ray, in Hit hit, inout Path path, out Interaction interaction, out Photon photon) {
    photon = Photon(vec3(0.0), 0, path.throughput, path.depth, ray.direction);
    interaction = Interaction(vec3(0.0), 0.0, vec3(0.0), 0.0, vec3(0.0), 0.0, vec3(0.0), 0, -ray.direction);
    if (hit.triangle < 0) {
        path.throughput = vec3(0.0);
        return EXIT_DONE;
    }
    vec3 emission;
    float per_area;
    interaction = interaction_at(ray, hit, emission, per_area);
    photon.position = interaction.position;
    photon.stored = !bsdf_delta(interaction) && path.depth >= photon_from ? 1 : 0;
    return EXIT_SURFACE;
}
