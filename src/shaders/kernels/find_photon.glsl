// A photon of the cell, where one that counts is weighed in a state of its own: kernels/weigh_photon.glsl.
#include "interface/photon_at.glsl"
#include "lib/near_photon.glsl"

int find_photon(in Interaction interaction, inout Estimate estimate, out Arrival arrival) {
    Photon photon = photon_at(estimate.place);
    bool counts = photon_counts(estimate, interaction.position, photon, arrival.square);
    arrival.power = photon.power;
    arrival.direction = photon.direction;
    estimate.place += 1;
    estimate.left -= 1;
    if (counts) return EXIT_FOUND;
    return estimate.left > 0 ? EXIT_AGAIN : EXIT_CELL;
}
