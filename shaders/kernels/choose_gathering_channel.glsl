// Chooses the channel that a gathering ray goes on in, where channels part.
#include "interface/gather.glsl"
#include "interface/sampler.glsl"
#include "lib/follow_channel.glsl"
#include "lib/gather_number.glsl"

int choose_gathering_channel(in Pixel pixel, in Path path, inout Interaction spot, inout Path gathering) {
    if (channels_part(spot)) {
        int surface = 32 + gathering.depth % 32;  // as kernels/gather_on.glsl has it
        int ray_index = gathering_index(gathering);
        int dimension = gather_dimension(gather_rays, path.number, ray_index, surface);
        int number = gather_number(gather_rays, path.number, ray_index);
        follow_channel(spot, gathering.throughput, sample_2d(pixel.at, number, dimension + 6).x);
    }
    return EXIT_DONE;
}
