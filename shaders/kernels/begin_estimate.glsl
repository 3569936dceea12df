// Begins the radiance estimate of a surface, in its own cell (J. G. Cleary, "Analysis of an algorithm for finding
// nearest neighbours in Euclidean space", 1979; Purcell et al. 2003, section 2.3: kNN-grid). Of a surface that is about
// to gather it is that of the caustic photons alone: a final gather brings the others' light.
#include "interface/bsdf.glsl"
#include "interface/estimate.glsl"
#include "interface/path.glsl"

int begin_estimate(in Interaction interaction, in Path path, out Estimate estimate) {
    int caustic = path.number == -1 ? 1 : 0;  // lib/gather_number.glsl
    estimate = Estimate(vec3(0.0), 0.0, photon_cell(interaction.position), 0, 0, 0, -1, vec3(0.0), caustic);
    return bsdf_delta(interaction) || path.depth >= path_depth ? EXIT_NONE : EXIT_CELL;
}
