// What a pixel and a point of the lattice have to do with each other, by their light: all, as far as it is within three
// standard deviations of a pixel. The same for both, so that what one gives the other takes.
#include "film/denoise/view.glsl"
#include "film/denoise/alike.glsl"
#include "film/denoise/surface.glsl"
#include "lib/luminance.glsl"

const float RANGE = 9.0;  // squared, of standard deviations

// value: mean luminance around the point. variance: of a pixel there.
float same_light(float luminance, float value, float variance) {
    float off = luminance - value;
    return falling(max(off * off / (RANGE * variance + 1e-12 * (1.0 + value * value)) - 1.0, 0.0));
}
