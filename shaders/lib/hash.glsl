// Integer hashes, and numbers in [0, 1) from their words. Source: Jarzynski and Olano 2020, "Hash functions for GPU
// rendering", JCGT 9 (3), section 4.2 (pcg4d). uint arithmetic wraps to 32 bits (GLSL 3.30, section 4.1.3).

// Four words from four. The upper bits are the best.
uvec4 pcg4d(uvec4 v) {
    v = v * 1664525u + 1013904223u;
    v.x += v.y * v.w;
    v.y += v.z * v.x;
    v.z += v.x * v.y;
    v.w += v.y * v.z;
    v ^= v >> 16u;
    v.x += v.y * v.w;
    v.y += v.z * v.x;
    v.z += v.x * v.y;
    v.w += v.y * v.z;
    return v;
}

// The upper 24 bits of a word as a number: 0, 2^-24, ... 1 - 2^-24, each exact. Signed integers convert faster on CPUs.
float unit_float(uint word) {
    return float(int(word >> 8u)) * 5.9604644775390625e-8;
}
vec2 unit_float(uvec2 word) {
    return vec2(ivec2(word >> 8u)) * 5.9604644775390625e-8;
}
