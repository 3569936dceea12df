// Chooses the channel that a path goes on in, where channels part. The lobe's number (kernels/scatter.glsl) decides, or
// one of its own where surfaces may be rough.
#include "interface/sampler.glsl"
#include "lib/follow_channel.glsl"

int choose_channel(in Pixel pixel, inout Interaction interaction, inout Path path) {
    if (channels_part(interaction)) {
#ifdef HAVE_DISPERSION
        float u = sample_1d(pixel.at, path.number, surface_dimension(path.depth) + DIMENSION_CHANNEL);
#else
        float u = sample_2d(pixel.at, path.number, surface_dimension(path.depth) + DIMENSION_LOBE).x;
#endif
        follow_channel(interaction, path.throughput, u);
    }
    return EXIT_DONE;
}
