// A photon's contribution to a radiance estimate.
#include "interface/estimate.glsl"

// The first k widen the radius; later ones count within it.
bool photon_widens(Estimate estimate) {
    return estimate.count < estimate_photons;
}

// Adds a photon's light, scattered, whose squared distance is distance2.
void add_photon(inout Estimate estimate, vec3 scattered, float distance2) {
    bool widens = photon_widens(estimate);
    estimate.sum += scattered;
    if (estimate_exponent > 0) estimate.moment += scattered * (estimate_exponent == 1 ? sqrt(distance2) : distance2);
    estimate.count += 1;
    if (widens) estimate.square = max(estimate.square, distance2);
}
