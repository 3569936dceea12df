// Random numbers stored in a texture (Purcell 2004): a pixel and dimension start somewhere in a table of points in
// random order, and each sample takes the next one. Where to start is itself in the table. Pixels 256 apart start at one
// place, but samples apart. All numbers are those of one table, so that this sampler is for comparisons.
// Needs the uniforms int sampler_seed and sampler_first, const int RANDOM_BITS (log2 of the table's length) and the memory random.
#include "interface/sampler.glsl"

vec2 sample_2d(ivec2 pixel, int number, int dimension) {
    const int mask = (1 << RANDOM_BITS) - 1;
    // 2^8 pixels in a row differ, and as many rows; the factors of dimension and seed are primes.
    int first = (pixel.x + (pixel.y << 8) + dimension * 40503 + sampler_seed * 30011) & mask;
    int far_offset = (pixel.x >> 8) * 4099 + (pixel.y >> 8) * 9001;  // primes, too
    return fetch_random((fetch_random(first).start + sampler_first + number + far_offset) & mask).value;
}

float sample_1d(ivec2 pixel, int number, int dimension) {
    return sample_2d(pixel, number, dimension).x;
}
