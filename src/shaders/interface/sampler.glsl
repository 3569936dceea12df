// What a sampler provides: random numbers, each a function of pixel, sample number, dimension and seed alone.
// number: of the sample, 0 .. 65535. dimension: which number of the sample it is, 0 .. 65535. The seed is a uniform.

// One number in [0, 1).
float sample_1d(ivec2 pixel, int number, int dimension);

// Two numbers in [0, 1), evenly spread together; they take the dimensions dimension, which is even, and dimension + 1.
vec2 sample_2d(ivec2 pixel, int number, int dimension);
