// Owen-scrambled Sobol points in two dimensions, as 32-bit words.
// Sources: Sobol 1967; Owen 1995 (scrambling); Laine and Karras 2011, section 3.1 (scrambling by a hash in which a bit
// acts on those above it only); Burley 2020, "Practical hash-based Owen scrambling", JCGT 9 (4) (shuffled padding);
// Vegdahl 2021, "Building a better LK hash" (the constants of owen_scramble).

#ifdef HAVE_GPU_FORM
// The reference compiler, which alone has the other extension, knows of this one's functions only in part.
#if defined(GL_ARB_gpu_shader5) && !defined(GL_GOOGLE_include_directive)
#define reverse_bits bitfieldReverse
#else
#include "lib/reverse_bits.glsl"
#endif
#else
#include "lib/reverse_bits.glsl"
#endif

// The number's bits times Pascal's triangle modulo 2, the generator of Sobol's second dimension. The triangle of 2 n
// rows consists of three of n rows, so that five steps suffice.
uint pascal(uint v) {
    v ^= (v & 0xAAAAAAAAu) >> 1u;
    v ^= (v & 0xCCCCCCCCu) >> 2u;
    v ^= (v & 0xF0F0F0F0u) >> 4u;
    v ^= (v & 0xFF00FF00u) >> 8u;
    return v ^ (v >> 16u);
}

// Nested uniform scrambling of words whose lowest bit is the first digit: a bit affects itself and those above it only.
uint owen_scramble(uint v, uint key) {
    v ^= v * 0x3D20ADEAu;
    v += key;
    v *= (key >> 16u) | 1u;
    v ^= v * 0x05526C56u;
    return v ^ (v * 0x53A22864u);
}
uvec2 owen_scramble(uvec2 v, uvec2 key) {
    v ^= v * 0x3D20ADEAu;
    v += key;
    v *= (key >> 16u) | 1u;
    v ^= v * 0x05526C56u;
    return v ^ (v * 0x53A22864u);
}

// The number's index in a random order that keeps every first 2^m together: a nested permutation.
uint shuffled_number(int number, uint key) {
    return reverse_bits(owen_scramble(reverse_bits(uint(number)), key));
}

// Coordinates of Sobol point i, scrambled, as binary fractions: the highest bit counts one half.
uint sobol_1d(uint i, uint key) {
    return reverse_bits(owen_scramble(i, key));
}
uvec2 sobol_2d(uint i, uvec2 keys) {
    return reverse_bits(owen_scramble(uvec2(i, pascal(i)), keys));
}
