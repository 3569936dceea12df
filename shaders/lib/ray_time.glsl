// The time of the ray whose hit is asked about, where the shutter is open.
#ifdef HAVE_MOTION
#include "lib/moment.glsl"

void enter_time_of(Ray ray) {
    moment_here = moment_of(ray);
}
#else
void enter_time_of(Ray ray) {}
#endif
