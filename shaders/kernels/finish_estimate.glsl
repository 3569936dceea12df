// The radiance estimate: powers over the area of the disc that holds them (H. W. Jensen 2001, section 7.2). Where fewer
// than k photons are near enough, that is the whole disc of the greatest radius, since all of it was searched.
#include "interface/estimate.glsl"

int finish_estimate(in Interaction interaction, in Path path, in Estimate estimate, inout Radiance radiance) {
    bool enough = estimate.count >= estimate_photons;
    float square = enough ? estimate.square : estimate_limit(interaction.position);
    if (estimate.count > 0 && square > 0.0) {
        radiance.rgb += path.throughput * estimate.sum / (3.14159265 * square);
    }
    return EXIT_DONE;
}
