// The next cell of a shell of the kNN-grid search, in rows; of the inner rows only the two ends are in the shell. left is
// -1 before the first.
#include "interface/estimate.glsl"
#include "interface/photons_of_cell.glsl"

float cell_distance_squared(vec3 position, ivec3 cell) {
    vec3 low = photon_grid_low + vec3(cell) * photon_grid_cell;
    vec3 apart = max(max(low - position, position - low - photon_grid_cell), vec3(0.0));
    return dot(apart, apart);
}

int nearest_cell(in Interaction interaction, inout Estimate estimate) {
    ivec3 middle = photon_cell(interaction.position), cell = estimate.cell;
    int shell = estimate.shell;
    ivec3 low = photon_grid_first(middle, shell), high = photon_grid_last(middle, shell);
    bool outer = abs(cell.z - middle.z) == shell || abs(cell.y - middle.y) == shell;
    cell.x = outer ? cell.x + 1 : max(cell.x + 1, middle.x + shell);
    if (cell.x > high.x) cell = ivec3(low.x, cell.y + 1, cell.z);
    if (cell.y > high.y) cell = ivec3(cell.x, low.y, cell.z + 1);
    if (estimate.left < 0) cell = low;
    estimate.cell = cell;
    ivec3 apart = abs(cell - middle);
    bool there = apart.x == shell || apart.y == shell || apart.z == shell;
    bool enough = estimate.count >= estimate_photons;
    float limit = enough ? estimate.square : estimate_limit(interaction.position, estimate.caustic);
    estimate.left = 0;
    if (cell.z > high.z) return EXIT_SHELL;
    if (!there || cell_distance_squared(interaction.position, cell) > limit) return EXIT_AGAIN;
    photons_of_cell(photon_map_cell(cell, estimate.caustic == 1), estimate.place, estimate.left);
    return estimate.left > 0 ? EXIT_PHOTON : EXIT_AGAIN;
}
