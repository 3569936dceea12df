// Photons by cell: what a photon map provides, over streams that the kernel gathers.

// The place of a cell's first photon, and how many it has there.
void photons_of_cell(int cell, out int place, out int count);
