// How many candidates direct light is resampled from.
#include "interface/candidates.glsl"
