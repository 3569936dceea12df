// The settings of Whitted's tracer are uniforms alone.
#include "interface/whitted.glsl"
