// Begins a surface's final gather. Its path has the throughput of the surface's.
#include "interface/bsdf.glsl"
#include "interface/gather.glsl"
#include "interface/path.glsl"

int begin_gather(in Interaction interaction, in Path path, out Path gathering) {
    gathering = Path(path.throughput, 0.0, 0, -1, vec2(0.0));
    return bsdf_delta(interaction) || path.depth >= path_depth ? EXIT_NONE : EXIT_SURFACE;
}
