// A photon of the cell (Purcell et al. 2003, section 2.3). Each is weighed by the BSDF for its own direction, without the
// cosine, which its power has already.
#include "interface/bsdf.glsl"
#include "interface/photon_at.glsl"
#include "lib/near_photon.glsl"

int estimate_photon(in Interaction interaction, inout Estimate estimate) {
    Photon photon = photon_at(estimate.place);
    float distance2;
    if (photon_counts(estimate, interaction.position, photon, distance2)) {
        vec3 wi = -photon.direction;
        float facing = abs(dot(interaction.shading, wi));
        vec3 scattered = vec3(0.0);
        if (facing > 0.0) scattered = photon.power * (bsdf_value(interaction, interaction.wo, wi) / facing);
        add_photon(estimate, scattered, distance2);
    }
    estimate.place += 1;
    estimate.left -= 1;
    return estimate.left > 0 ? EXIT_AGAIN : EXIT_CELL;
}
