// Which surface a pixel sees, as a hash of 16 bits in the low bits of its light's variance, of which eight bits are enough:
// a texel holds both. Light of a floor before a backdrop and of the things on it never mix, though they are of one plane.
const float MIXED = 0.02;

float with_surface(float variance, uint surface) {
    uint high = floatBitsToUint(variance < 0.0 ? variance : max(variance, 1e-30)) & 0xffff0000u;
    return uintBitsToFloat(high | (surface & 0xffffu));
}

uint surface_in(float variance) {
    return floatBitsToUint(variance) & 0xffffu;
}

bool is_mixed(float variance) {
    return (surface_in(variance) & 1u) != 0u;
}

bool on_surface(float variance, float other) {
    return (surface_in(variance) >> 1u) == (surface_in(other) >> 1u);
}

// How much the light of a pixel counts on another one's surface: 0 of another surface, little where it is of several.
float same_surface(float there, float own) {
    return on_surface(there, own) ? (is_mixed(there) ? MIXED : 1.0) : 0.0;
}
