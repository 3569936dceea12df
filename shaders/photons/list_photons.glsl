// The list that is sorted: the cell of every photon. What is not stored, and what fills the list up to a power of two,
// has a cell beyond the last, and ends up behind all others.
#include "photons/grid_uniforms.glsl"
#include "interface/photon_grid.glsl"

uniform int photon_count;

Entry element(int number) {
    if (number >= photon_count) return Entry(photon_cells(), number);
    Photon photon = fetch_photons(number);
    return Entry(photon.stored == 1 ? photon_cell_number(photon_cell(photon.position)) : photon_cells(), number);
}
