// The radiance estimate: powers over the area of the disc that holds them (H. W. Jensen 2001, section 7.2). Where fewer
// than k photons are near enough, that is the whole disc of the greatest radius, since all of it was searched.
// Filters (section 7.2.1; V. Epanechnikov 1969) are 1 - c (d / r)^p, so that sums of powers and of powers times d^p give
// them exactly, though the radius is known only now.
// Behind it comes the estimate of the caustic photons where these are apart.
#include "interface/estimate.glsl"

int finish_estimate(in Interaction interaction, in Path path, inout Estimate estimate, inout Radiance radiance) {
    bool has_all = estimate.count >= estimate_photons;
    float radius2 = has_all ? estimate.square : estimate_limit(interaction.position, estimate.caustic);
    if (estimate.count > 0 && radius2 > 0.0) {
        vec3 filtered = estimate.sum;
        if (estimate_exponent > 0) {
            filtered -= estimate.moment * (estimate_slope / (estimate_exponent == 1 ? sqrt(radius2) : radius2));
            filtered = max(filtered, vec3(0.0)) / estimate_integral;  // roundings apart it is not below
        }
        radiance.rgb += path.throughput * filtered / (3.14159265 * radius2);
    }
    bool caustics_follow = photon_grid_kinds > 1 && estimate.caustic == 0;
    if (caustics_follow) estimate = Estimate(vec3(0.0), 0.0, photon_cell(interaction.position), 0, 0, 0, -1, vec3(0.0), 1);
    return caustics_follow ? EXIT_CAUSTIC : EXIT_DONE;
}
