// The next cell of the kNN-grid search: shell by shell around the first one, each clipped to the grid. The search ends
// when k photons are found, or no cell of the next shell is near enough. left is -1 while a shell is begun.
#include "interface/estimate.glsl"
#include "interface/photons_of_cell.glsl"

// The least distance from a position to the cells of a shell that there are; negative: there is none.
float shell_distance(vec3 position, ivec3 middle, int shell) {
    vec3 lower = position - (photon_grid_low + vec3(middle - shell + 1) * photon_grid_cell);
    vec3 upper = photon_grid_low + vec3(middle + shell) * photon_grid_cell - position;
    float nearest = -1.0;
    for (int axis = 0; axis < 3; axis++) {
        bool below = photon_grid_first(middle, shell)[axis] == middle[axis] - shell;
        bool above = photon_grid_last(middle, shell)[axis] == middle[axis] + shell;
        if (below && (nearest < 0.0 || lower[axis] < nearest)) nearest = max(lower[axis], 0.0);
        if (above && (nearest < 0.0 || upper[axis] < nearest)) nearest = max(upper[axis], 0.0);
    }
    return nearest;
}

float cell_distance_squared(vec3 position, ivec3 cell) {
    vec3 low = photon_grid_low + vec3(cell) * photon_grid_cell;
    vec3 apart = max(max(low - position, position - low - photon_grid_cell), vec3(0.0));
    return dot(apart, apart);
}

// All cells that a sphere touches, in rows: for estimates that ask for every photon within a radius.
int estimate_box(in Interaction interaction, inout Estimate estimate) {
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

int estimate_cell(in Interaction interaction, inout Estimate estimate) {
    if (estimate_all == 1) return estimate_box(interaction, estimate);
    ivec3 middle = photon_cell(interaction.position);
    int shell = estimate.shell;
    ivec3 low = photon_grid_first(middle, shell), high = photon_grid_last(middle, shell);
    bool enough = estimate.count >= estimate_photons;
    float limit = enough ? estimate.square : estimate_limit(interaction.position, estimate.caustic);
    ivec3 cell = estimate.cell;
    bool begun = estimate.left < 0;
    if (begun) cell = low;
    // From here on the cell is one of the shell's box; of its inner rows only the two ends are in the shell.
    bool outer = abs(cell.z - middle.z) == shell || abs(cell.y - middle.y) == shell;
    bool there = outer || abs(cell.x - middle.x) == shell;
    estimate.left = 0;
    if (!begun) {  // one on
        cell.x = outer ? cell.x + 1 : max(cell.x + 1, middle.x + shell);
        if (cell.x > high.x) {
            cell.x = low.x;
            cell.y += 1;
            if (cell.y > high.y) {
                cell.y = low.y;
                cell.z += 1;
            }
        }
        if (cell.z > high.z) {  // the next shell
            estimate.shell = shell + 1;
            float nearest = shell_distance(interaction.position, middle, shell + 1);
            bool over = nearest < 0.0 || nearest * nearest > limit || (enough && estimate_exact == 0);
            estimate.left = -1;
            return over ? EXIT_END : EXIT_AGAIN;
        }
        outer = abs(cell.z - middle.z) == shell || abs(cell.y - middle.y) == shell;
        there = outer || abs(cell.x - middle.x) == shell;
    }
    estimate.cell = cell;
    if (!there || cell_distance_squared(interaction.position, cell) > limit) return EXIT_AGAIN;
    photons_of_cell(photon_map_cell(cell, estimate.caustic == 1), estimate.place, estimate.left);
    return estimate.left > 0 ? EXIT_PHOTON : EXIT_AGAIN;
}
