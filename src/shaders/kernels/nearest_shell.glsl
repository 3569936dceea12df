// The next shell of cells of the kNN-grid search about the first one, clipped to the grid. The search ends when k photons
// are found, or no cell of the shell is near enough.
#include "interface/estimate.glsl"

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

int nearest_shell(in Interaction interaction, inout Estimate estimate) {
    ivec3 middle = photon_cell(interaction.position);
    estimate.shell += 1;
    estimate.left = -1;
    bool enough = estimate.count >= estimate_photons;
    float limit = enough ? estimate.square : estimate_limit(interaction.position, estimate.caustic);
    float nearest = shell_distance(interaction.position, middle, estimate.shell);
    bool over = nearest < 0.0 || nearest * nearest > limit || (enough && estimate_exact == 0);
    return over ? EXIT_END : EXIT_CELL;
}
