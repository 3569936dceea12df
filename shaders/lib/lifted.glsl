// Positions above their facet, lib/smooth_lift.glsl, where there are smooth surfaces: their error is negative.

#ifdef HAVE_SMOOTH
bool lifted(float error) {
    return error < 0.0;
}
#else
bool lifted(float error) {
    return false;
}
#endif
