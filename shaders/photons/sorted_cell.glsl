// Photons of a cell in the sorted list (viewer/photons/grid.py). Needs first_photons, which the kernel gathers.
#include "interface/photons_of_cell.glsl"

First fetch_first_photons(int number);

void photons_of_cell(int cell, out int place, out int count) {
    First entry = fetch_first_photons(cell);
    place = entry.first;
    count = entry.count;
}
