// Positions above their facet, lib/smooth_lift.glsl, where there are smooth surfaces: their error is negative.

#ifdef HAVE_SMOOTH
bool lifted(float error) { return error < 0.0; }

// The error that a ray must get beyond as it leaves its facet: none above it.
float facet_error(float error) { return max(error, 0.0); }

// Without the sign.
float error_size(float error) { return abs(error); }
#else
bool lifted(float error) { return false; }

float facet_error(float error) { return error; }

float error_size(float error) { return error; }
#endif
