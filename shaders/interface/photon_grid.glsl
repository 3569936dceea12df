// The uniform grid of the photon map.
uniform vec3 photon_grid_low;          // corner of the lowest cell, world
uniform vec3 photon_grid_cell;         // edges of a cell, scene units
uniform ivec3 photon_grid_resolution;  // cells along each axis

// The cell of a position, clamped to the grid.
ivec3 photon_cell(vec3 position) {
    return clamp(ivec3(floor((position - photon_grid_low) / photon_grid_cell)), ivec3(0), photon_grid_resolution - 1);
}

int photon_cell_number(ivec3 cell) {
    return (cell.z * photon_grid_resolution.y + cell.y) * photon_grid_resolution.x + cell.x;
}

int photon_cells() {
    return photon_grid_resolution.x * photon_grid_resolution.y * photon_grid_resolution.z;
}
