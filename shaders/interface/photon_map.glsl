// Photons by cell: what a photon map provides, over streams that the kernel gathers.

// The place of a cell's first photon, and how many it has there.
void photons_of_cell(int cell, out int place, out int count);

// The photon at a place; of a map that cannot hold all of them with more than its own power.
Photon photon_at(int place);
