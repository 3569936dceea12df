// Photons by place: what a photon map provides, over streams that the kernel gathers.

// The photon at a place; of a map that cannot hold all of them with more than its own power.
Photon photon_at(int place);
