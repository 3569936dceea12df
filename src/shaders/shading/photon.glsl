// The settings of photon tracing are uniforms alone.
#include "interface/photon.glsl"
