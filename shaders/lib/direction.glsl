// Directions without zeros.

// The direction with zero components replaced by +-1e-30, so that divisions give no NaN: an axis-parallel ray then
// meets the planes of that axis at about +-infinity, or at 0 when it starts on one.
vec3 nonzero(vec3 direction) {
    return mix(direction, vec3(1e-30), lessThan(abs(direction), vec3(1e-30)));
}
