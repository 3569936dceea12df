// Begins the radiance estimate of the caustic photons alone: a final gather brings the others' light.
#include "interface/estimate.glsl"

int begin_caustics(in Interaction interaction, out Estimate estimate) {
    estimate = Estimate(vec3(0.0), 0.0, photon_cell(interaction.position), 0, 0, 0, -1, vec3(0.0), 1);
    return EXIT_CELL;
}
