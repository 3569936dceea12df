// The time of a path: R. L. Cook, T. Porter and L. Carpenter, "Distributed Ray Tracing" (1984). All its rays have it; where
// the shutter is not open there is none.
#ifdef HAVE_MOTION
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

// From here on the scene is as it is at a path's time. Returns the tag of its rays.
int enter_time(ivec2 pixel, int number) {
    moment_here = path_moment(pixel, number);
    return moment_tag(moment_here);
}

// The tag of the time that was entered last.
int time_tag() {
    return moment_tag(moment_here);
}
#else
const int path_time = 0;  // of kernels that have a pixel only where there is time

int enter_time(ivec2 pixel, int number) { return 0; }
int time_tag() { return 0; }
#endif
