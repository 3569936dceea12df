// Begins a surface's final gather: with the caustic photons at the surface itself. The number of the gathering path is
// that of its ray, -1 before the first.
#include "interface/bsdf.glsl"
#include "interface/gather.glsl"
#include "interface/path.glsl"

int begin_gather(in Interaction interaction, in Path path, out Interaction spot, out Path gathering) {
    spot = interaction;
    gathering = Path(path.throughput, 0.0, 0, -1, vec2(0.0));
    return bsdf_delta(interaction) || path.depth >= path_depth ? EXIT_NONE : EXIT_SURFACE;
}
