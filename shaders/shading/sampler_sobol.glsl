// Owen-scrambled Sobol points, padded in pairs: each pair of dimensions has an order and a scrambling of its own, which
// the pixels of a block of 64 x 64 share. They differ by a digital shift (an exclusive or) with a blue-noise tile, so
// that neighbours err in opposite ways (Georgiev and Fajardo 2016); unlike the addition of Cranley and Patterson 1976
// the shift keeps the elementary intervals, and the error of a pixel is that of points with a scrambling of its own.
// Pictures that follow each other, each with one sample, take the numbers that follow each other from sampler_first on: blue
// noise in the picture, and points of one sequence in time.
// Needs the uniforms int sampler_seed and sampler_first, const int BLUE_NOISE_BITS (log2 of a tile's side) and the memory blue_noise.
// Sources: lib/sobol.glsl.
#include "interface/sampler.glsl"
#include "lib/hash.glsl"
#include "lib/int_of.glsl"
#include "lib/sobol.glsl"

// x: of the order; yz: of the two scramblings; w: where in the block the tile begins.
uvec4 sobol_keys(ivec2 pixel, int dimension, int width) {
    ivec2 block = pixel >> BLUE_NOISE_BITS;
    uvec4 keys = pcg4d(uvec4(dimension, width, sampler_seed, block.x | (block.y << 16)));
    return keys ^ (keys >> 16u);  // the lower bits scramble the leading digits
}

uvec2 blue_noise_shift(ivec2 pixel, uint place) {
    const int mask = (1 << BLUE_NOISE_BITS) - 1;
    int x = (pixel.x + int(place >> 16u)) & mask, y = (pixel.y + int(place & 0xFFFFu)) & mask;
    return uvec2(int_of(fetch_blue_noise((y << BLUE_NOISE_BITS) | x).value)) << 16u;
}

float sample_1d(ivec2 pixel, int number, int dimension) {
    uvec4 keys = sobol_keys(pixel, dimension, 1);
    uint i = shuffled_number(sampler_first + number, keys.x);
    return unit_float(sobol_1d(i, keys.y) ^ blue_noise_shift(pixel, keys.w).x);
}

vec2 sample_2d(ivec2 pixel, int number, int dimension) {
    uvec4 keys = sobol_keys(pixel, dimension, 2);
    uint i = shuffled_number(sampler_first + number, keys.x);
    return unit_float(sobol_2d(i, keys.yz) ^ blue_noise_shift(pixel, keys.w));
}
