// Adds samples to a pixel's film: the twin of raystream.film.film.Film.add.
// The sum is a pair of floats, sum + compensation, with an error of a few 2^-48 after any number of samples. square sums
// squared deviations of the luminance from the running mean (Welford 1962); a sum of squares minus the squared mean would
// cancel. Needs the record Film.
#include "lib/exact.glsl"
#include "lib/luminance.glsl"

const float FILM_BRIGHTEST = 1.8014398509481984e16;        // 2^54, largest luminance: 2^16 squares of it add up
// The bits of 2^100: larger, infinite and NaN samples are dropped. Compilers may remove NaN from comparisons.
const uint FILM_BROKEN = 0x71800000u;

float film_luminance(vec3 radiance) {
    vec3 parts = radiance * LUMINANCE;
    return clamp(exact_sum(parts), -FILM_BRIGHTEST, FILM_BRIGHTEST);  // a dot() has no fixed order
}

// One more sample, linear sRGB. A broken one counts as black.
void film_add(inout Film film, vec3 radiance) {
    uvec3 magnitude = floatBitsToUint(radiance) & 0x7FFFFFFFu;
    if (any(greaterThanEqual(magnitude, uvec3(FILM_BROKEN)))) radiance = vec3(0.0);
    float luminance = film_luminance(radiance);
    float before = luminance - film_luminance(film.sum) / max(film.count, 1.0);
    add_compensated(film.sum, film.compensation, radiance);
    film.count += 1.0;
    float after = luminance - film_luminance(film.sum) / film.count;
    film.square += film.count > 1.0 ? max(before * after, 0.0) : 0.0;
}

// A sample scaled to a largest component of at most `most`: removes fireflies, and darkens the picture (biased). most
// 0: the sample unchanged.
vec3 film_clamp(vec3 radiance, float most) {
    float largest = max(radiance.x, max(radiance.y, radiance.z));
    return most > 0.0 && largest > most ? radiance * (most / largest) : radiance;
}
