// Which surface a pixel sees, as a hash of 16 bits in the low bits of its light's variance, of which eight bits are enough:
// a texel holds both. Light of a floor before a backdrop and of the things on it never mix, though they are of one plane.
float with_surface(float variance, uint surface) {
    uint high = floatBitsToUint(variance < 0.0 ? variance : max(variance, 1e-30)) & 0xffff0000u;
    return uintBitsToFloat(high | (surface & 0xffffu));
}

uint surface_in(float variance) {
    return floatBitsToUint(variance) & 0xffffu;
}

// Of an instance's number as of `HIT`, -1: a floor.
uint surface_of(int instance) {
    return (uint(instance + 1) * 2654435769u) >> 16u;
}

// 1 of two variances of one surface, else 0.
float same_surface(float variance, float other) {
    return surface_in(variance) == surface_in(other) ? 1.0 : 0.0;
}
