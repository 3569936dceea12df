// Owen-scrambled points, padded in pairs, that the pixels of a square share, dealt out in z-order (A. G. M. Ahmed and
// P. Wonka, "Screen-Space Blue-Noise Diffusion of Monte Carlo Sampling Error via Hierarchical Ordering of Pixels",
// 2020). Each pixel's first 2^n points of a pair are a (0, n, 2)-net in base 2, as Sobol's are, the first 4^n of all the
// pixels of an aligned square of 2^m x 2^m a (0, m + n, 2)-net in base 4. They are those of a (0, 3)-sequence in base 4
// whose first coordinate is the place in z-order: which ones are a pixel's is plain, and that paper's number of samples
// need not be known.
// Each pair has a z-order, an order of each pixel's numbers and scramblings of its own; blocks of 64 x 64 have others. The
// directions in which a path goes on at two surfaces, one after the other, share both orders and are even together:
// what light scattered twice brings is a function of four numbers, most of whose variance none of the pairs has alone.
// Pictures that follow each other, each with one sample, take the numbers that follow each other from sampler_first on.
// Needs the uniforms int sampler_seed and sampler_first, const int JOINT_FIRST (dimension of the first surface's
// direction) and JOINT_APART (from one surface to the next).
// Sources: lib/nets.glsl, lib/sobol.glsl.
#include "interface/sampler.glsl"
#include "lib/hash.glsl"
#include "lib/nets.glsl"
#include "lib/sobol.glsl"

const int BLOCK_BITS = 6;  // log2 of the side of a block

// x: of the order; yz: of the two scramblings; w: of the pixels.
uvec4 zorder_keys(ivec2 pixel, int dimension, int width) {
    ivec2 block = pixel >> BLOCK_BITS;
    uvec4 keys = pcg4d(uvec4(dimension, width, sampler_seed, block.x | (block.y << 16)));
    return keys ^ (keys >> 16u);  // the lower bits scramble the leading digits
}

// The sequence's index: the pixel, the largest square first, and above it the number of the sample.
uint zorder_index(ivec2 pixel, int number, uvec4 keys) {
    uint place = owen_scramble(z_order(pixel), keys.w) & 0xFFFu;
    return (shuffled_within(sampler_first + number, keys.x ^ (place * 0x9E3779B9u)) << 12u) | place;
}

float sample_1d(ivec2 pixel, int number, int dimension) {
    uvec4 keys = zorder_keys(pixel, dimension, 1);
    return unit_float(reverse_bits(owen_scramble(pascal(zorder_index(pixel, number, keys)), keys.y)));
}

// Two numbers in [0, 1) of a pixel's sample and dimension.
vec2 sample_2d(ivec2 pixel, int number, int dimension) {
    uvec4 keys = zorder_keys(pixel, dimension, 2), order = keys;
    bool second = dimension >= JOINT_FIRST && (dimension - JOINT_FIRST) % (2 * JOINT_APART) == JOINT_APART;
    if (second) order = zorder_keys(pixel, dimension - JOINT_APART, 2);
    uint index = zorder_index(pixel, number, order);
    if (second) index = joint_index(index);
    return unit_float(reverse_bits(owen_scramble(net_2d(index), keys.yz)));
}
