// The time of a path: R. L. Cook, T. Porter and L. Carpenter, "Distributed Ray Tracing" (1984). All its rays have it.
#include "interface/sampler.glsl"
#include "lib/moment.glsl"

int path_moment(ivec2 pixel, int number) {
    const int dimension = 65534;  // nobody else's
    return int(sample_1d(pixel, number, dimension) * 65536.0);
}

// What Ray.any_hit bears of it, in the place of the sample's number.
int moment_tag(int moment) {
    return 2 * moment;
}
