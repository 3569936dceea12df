// Independent numbers: a hash of pixel, number, dimension and seed. Source: Jarzynski and Olano 2020 (lib/hash.glsl).
// Needs the uniforms int sampler_seed and sampler_first.
#include "interface/sampler.glsl"
#include "lib/hash.glsl"

uvec4 independent_words(ivec2 pixel, int number, int dimension) {
    return pcg4d(uvec4(pixel, (sampler_first + number) | (dimension << 16), sampler_seed));
}

float sample_1d(ivec2 pixel, int number, int dimension) {
    return unit_float(independent_words(pixel, number, dimension).x);
}

vec2 sample_2d(ivec2 pixel, int number, int dimension) {
    return unit_float(independent_words(pixel, number, dimension).xy);
}
