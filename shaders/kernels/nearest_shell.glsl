// The next shell of cells of the kNN-grid search about the first one, clipped to the grid. The search ends when k photons
// are found, or no cell of the shell is near enough.
#include "interface/estimate.glsl"

// The least distance from a position to the cells of a shell that there are; negative: there is none.
float shell_distance(vec3 position, ivec3 centre, int shell) {
    vec3 to_low = position - (photon_grid_low + vec3(centre - shell + 1) * photon_grid_cell);
    vec3 to_high = photon_grid_low + vec3(centre + shell) * photon_grid_cell - position;
    float nearest = -1.0;
    for (int axis = 0; axis < 3; axis++) {
        bool has_low = photon_grid_first(centre, shell)[axis] == centre[axis] - shell;
        bool has_high = photon_grid_last(centre, shell)[axis] == centre[axis] + shell;
        if (has_low && (nearest < 0.0 || to_low[axis] < nearest)) nearest = max(to_low[axis], 0.0);
        if (has_high && (nearest < 0.0 || to_high[axis] < nearest)) nearest = max(to_high[axis], 0.0);
    }
    return nearest;
}

// Goes on to the next shell, or ends the search.
int nearest_shell(in Interaction interaction, inout Estimate estimate) {
    ivec3 centre = photon_cell(interaction.position);
    estimate.shell += 1;
    estimate.left = -1;
    bool has_all = estimate.count >= estimate_photons;
    float limit = has_all ? estimate.square : estimate_limit(interaction.position, estimate.caustic);
    float nearest = shell_distance(interaction.position, centre, estimate.shell);
    bool is_finished = nearest < 0.0 || nearest * nearest > limit || (has_all && estimate_exact == 0);
    return is_finished ? EXIT_END : EXIT_CELL;
}
