// Photons within a radiance estimate.
#include "lib/add_photon.glsl"

// Whether a photon counts at a position; distance2: of their distance.
bool photon_counts(Estimate estimate, vec3 position, Photon photon, out float distance2) {
    vec3 offset = photon.position - position;
    distance2 = dot(offset, offset);
    // Cells that share a hash bucket contain each other's photons.
    bool same_cell = photon_grid_buckets == 0 || photon_cell(photon.position) == estimate.cell;
    bool is_wanted = estimate.caustic == 0 || photon.stored == PHOTON_CAUSTIC;
    float limit = photon_widens(estimate) ? estimate_limit(position, estimate.caustic) : estimate.square;
    return same_cell && is_wanted && distance2 <= limit;
}
