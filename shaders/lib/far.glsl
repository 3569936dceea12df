// A distance beyond all others.

const float FAR = 3.4e38;  // raystream.kernels.records.FAR: GLSL 3.30 has no infinity
