// A (0, 3)-sequence in base 4 whose first coordinate is the index, its digits reversed: H. Faure, "Discrepance de
// suites associees a un systeme de numeration (en dimension s)" (1982), over the field of 4 elements (H. Niederreiter,
// "Point Sets and Sequences with Small Discrepancy", 1987). The digit l + h alpha, where alpha^2 is alpha + 1, has the
// bits l and h, l the lower; the lowest digit of a word is the first.
#include "lib/sobol.glsl"

// Digits times powers of alpha: once where add is set alone, twice where keep is set as well, else not.
uvec2 times_alpha(uvec2 v, uvec2 keep, uvec2 add) {
    uvec2 alpha = ((v >> 1u) & 0x55555555u) | ((v ^ (v << 1u)) & 0xAAAAAAAAu);
    return (v & keep) ^ (alpha & add);  // alpha^2 is alpha + 1
}

const uint DIGITS_0 = 0xC30C30C3u, DIGITS_1 = 0x0C30C30Cu, DIGITS_2 = 0x30C30C30u;  // those of a number modulo 3

// Two coordinates of a point, first digit lowest: digit i of the first is alpha^(2 - i) times the sum of
// binomial(j, i) alpha^j w_j over the index's digits w_j, of the second alpha^i times that of binomial(j, i) alpha^2j
// w_j. The powers before the sums leave base 4 as it is, and make what a pixel takes a (0, 2)-sequence in base 2, too.
uvec2 net_2d(uint index) {
    const uvec2 twice = uvec2(DIGITS_0 | DIGITS_2, DIGITS_0 | DIGITS_1), once = uvec2(DIGITS_1 | DIGITS_2);
    uvec2 v = times_alpha(uvec2(index), twice, once);
    v ^= (v & 0xCCCCCCCCu) >> 2u;
    v ^= (v & 0xF0F0F0F0u) >> 4u;
    v ^= (v & 0xFF00FF00u) >> 8u;
    v ^= v >> 16u;
    return times_alpha(v, uvec2(DIGITS_0 | DIGITS_2, DIGITS_0 | DIGITS_2), uvec2(DIGITS_0 | DIGITS_1, once.y));
}

// A pixel's place in its block of 64 x 64 in z-order, the highest bit lowest.
uint z_order(ivec2 pixel) {
    uvec2 v = uvec2(pixel & 63);
    v = ((v & 0x0Fu) << 8u) | (v >> 4u);
    v = ((v & 0x0303u) << 4u) | ((v >> 2u) & 0x0303u);
    v = ((v & 0x1111u) << 2u) | ((v >> 1u) & 0x1111u);
    return (v.x >> 3u) | (v.y >> 4u);
}

// The number in a random order that keeps 0 and every 2^m to 2^(m + 1): a nested permutation.
uint shuffled_within(int number, uint key) {
    uint v = reverse_bits(uint(number));
    v ^= v * 0x3D20ADEAu;
    v *= key | 1u;
    v ^= v * 0x05526C56u;
    v *= (key >> 16u) | 1u;
    return reverse_bits(v ^ (v * 0x53A22864u));
}

// The index under which a second pair of coordinates is taken, so that both pairs are even together, in four dimensions. A
// linear order of the digits that keeps aligned squares of pixels and the first 2^m numbers of each: bits of the place
// act on those of smaller squares, bits of the number on lower ones. Found by search for the least variance that both
// pairs together have in squares of 1, 2, 4 and 8 pixels and 1 to 64 numbers: a fourth of two random orders'.
const uint JOINT_ORDER[18] = uint[](
    0x5E9u, 0x2E6u, 0x64Cu, 0x428u, 0x670u, 0x220u, 0xDC0u, 0x880u, 0x700u, 0x200u, 0xC00u, 0x800u,  // of the place
    0x1000u, 0x3000u, 0x6000u, 0xA000u, 0x18000u, 0x25000u  // of the number; further ones stay
);

uint joint_index(uint index) {
    uint joint = index & 0xFFFC0000u;
    for (int bit = 0; bit < 18; ++bit) joint ^= (0u - ((index >> uint(bit)) & 1u)) & JOINT_ORDER[bit];
    return joint;
}
