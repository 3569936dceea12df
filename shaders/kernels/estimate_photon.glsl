// A photon of the cell (Purcell et al. 2003, section 2.3). The first k widen the radius; later ones count within it.
// Each is weighed by the BSDF for its own direction, without the cosine, which its power has already.
#include "interface/bsdf.glsl"
#include "interface/estimate.glsl"
#include "interface/photon_at.glsl"

int estimate_photon(in Interaction interaction, inout Estimate estimate) {
    Photon photon = photon_at(estimate.place);
    vec3 apart = photon.position - interaction.position;
    float square = dot(apart, apart);
    bool widens = estimate.count < estimate_photons;
    // Cells that share a bucket of a hash have each other's photons in it.
    bool own = photon_grid_buckets == 0 || photon_cell(photon.position) == estimate.cell;
    bool asked = estimate.caustic == 0 || photon.stored == PHOTON_CAUSTIC;
    if (own && asked && square <= (widens ? estimate_limit(interaction.position, estimate.caustic) : estimate.square)) {
        vec3 wi = -photon.direction;
        float facing = abs(dot(interaction.shading, wi));
        vec3 scattered = vec3(0.0);
        if (facing > 0.0) scattered = photon.power * (bsdf_value(interaction, interaction.wo, wi) / facing);
        estimate.sum += scattered;
        if (estimate_exponent > 0) estimate.moment += scattered * (estimate_exponent == 1 ? sqrt(square) : square);
        estimate.count += 1;
        if (widens) estimate.square = max(estimate.square, square);
    }
    estimate.place += 1;
    estimate.left -= 1;
    return estimate.left > 0 ? EXIT_AGAIN : EXIT_CELL;
}
