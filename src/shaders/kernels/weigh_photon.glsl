// What a photon that counts adds, as in kernels/estimate_photon.glsl.
#include "interface/bsdf.glsl"
#include "lib/add_photon.glsl"

int weigh_photon(in Interaction interaction, in Arrival arrival, inout Estimate estimate) {
    vec3 wi = -arrival.direction;
    float facing = abs(dot(interaction.shading, wi));
    vec3 scattered = vec3(0.0);
    if (facing > 0.0) scattered = arrival.power * (bsdf_value(interaction, interaction.wo, wi) / facing);
    add_photon(estimate, scattered, arrival.square);
    return estimate.left > 0 ? EXIT_AGAIN : EXIT_CELL;
}
