// The next of the cells that the sphere of an estimate touches, in rows: for estimates by every photon within a radius.
// left is -1 before the first.
#include "interface/estimate.glsl"
#include "interface/photons_of_cell.glsl"

int radius_cell(in Interaction interaction, inout Estimate estimate) {
    float radius = sqrt(estimate_limit(interaction.position, estimate.caustic));
    ivec3 low = photon_cell(interaction.position - radius), high = photon_cell(interaction.position + radius);
    ivec3 cell = estimate.cell;
    if (estimate.left < 0) {
        cell = low;
    } else {
        cell.x += 1;
        if (cell.x > high.x) cell = ivec3(low.x, cell.y + 1, cell.z);
        if (cell.y > high.y) cell = ivec3(low.xy, cell.z + 1);
        if (cell.z > high.z) return EXIT_END;
    }
    estimate.cell = cell;
    photons_of_cell(photon_map_cell(cell, estimate.caustic == 1), estimate.place, estimate.left);
    return estimate.left > 0 ? EXIT_PHOTON : EXIT_AGAIN;
}
