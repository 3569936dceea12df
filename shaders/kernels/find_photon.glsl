// A photon of the cell, where one that counts is weighed in a state of its own: kernels/weigh_photon.glsl.
// It is written where it counts alone: of a value that every turn of a loop sets, llvmpipe (Mesa 22.3) keeps the last
// turn's, also for pixels that had left the loop before.
#include "interface/photon_at.glsl"
#include "lib/near_photon.glsl"

int find_photon(in Interaction interaction, inout Estimate estimate, out Arrival arrival) {
    Photon photon = photon_at(estimate.place);
    float square;
    bool counts = photon_counts(estimate, interaction.position, photon, square);
    arrival = Arrival(vec3(0.0), 0.0, vec3(0.0));
    if (counts) arrival = Arrival(photon.power, square, photon.direction);
    estimate.place += 1;
    estimate.left -= 1;
    return counts ? EXIT_FOUND : estimate.left > 0 ? EXIT_AGAIN : EXIT_CELL;
}
