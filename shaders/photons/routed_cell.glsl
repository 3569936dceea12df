// Photons of a cell's footprint (viewer/photons/grid.py): numbered by cell, within each in the order of routing.
// Needs routed_cells, which the kernel gathers, and the uniform int footprint_edge.
#include "interface/photons_of_cell.glsl"

RoutedCell fetch_routed_cells(int cell);

void photons_of_cell(int cell, out int place, out int count) {
    place = cell * footprint_edge * footprint_edge;
    count = fetch_routed_cells(cell).held;
}
