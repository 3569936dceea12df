// The next cell of a shell of the kNN-grid search, in rows; of the inner rows only the two ends are in the shell. left is
// -1 before the first.
#include "interface/estimate.glsl"
#include "interface/photons_of_cell.glsl"

// The squared distance from a position to a cell's box.
float cell_distance_squared(vec3 position, ivec3 cell) {
    vec3 low = photon_grid_low + vec3(cell) * photon_grid_cell;
    vec3 offset = max(max(low - position, position - low - photon_grid_cell), vec3(0.0));
    return dot(offset, offset);
}

// Goes on to the next cell of the shell, and begins its photons where it is near enough.
int nearest_cell(in Interaction interaction, inout Estimate estimate) {
    ivec3 centre = photon_cell(interaction.position), cell = estimate.cell;
    int shell = estimate.shell;
    ivec3 low = photon_grid_first(centre, shell), high = photon_grid_last(centre, shell);
    bool is_full_row = abs(cell.z - centre.z) == shell || abs(cell.y - centre.y) == shell;
    cell.x = is_full_row ? cell.x + 1 : max(cell.x + 1, centre.x + shell);
    if (cell.x > high.x) cell = ivec3(low.x, cell.y + 1, cell.z);
    if (cell.y > high.y) cell = ivec3(cell.x, low.y, cell.z + 1);
    if (estimate.left < 0) cell = low;
    estimate.cell = cell;
    ivec3 offset = abs(cell - centre);
    bool on_shell = offset.x == shell || offset.y == shell || offset.z == shell;
    bool has_all = estimate.count >= estimate_photons;
    float limit = has_all ? estimate.square : estimate_limit(interaction.position, estimate.caustic);
    estimate.left = 0;
    if (cell.z > high.z) return EXIT_SHELL;
    if (!on_shell || cell_distance_squared(interaction.position, cell) > limit) return EXIT_AGAIN;
    photons_of_cell(photon_map_cell(cell, estimate.caustic == 1), estimate.place, estimate.left);
    return estimate.left > 0 ? EXIT_PHOTON : EXIT_AGAIN;
}
