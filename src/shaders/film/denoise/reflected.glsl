// How much of light a pixel reflects, 0 to 1, in the low bits of its light's variance, of which eight bits are enough: a
// texel holds both, so that a tap of the filter is two fetches.
float with_reflected(float variance, float reflected) {
    uint high = floatBitsToUint(variance < 0.0 ? variance : max(variance, 1e-30)) & 0xffff0000u;
    return uintBitsToFloat(high | uint(clamp(reflected, 0.0, 1.0) * 65535.0 + 0.5));
}

float reflected_in(float variance) {
    return float(floatBitsToUint(variance) & 0xffffu) * (1.0 / 65535.0);
}
