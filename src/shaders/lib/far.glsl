// Distances without an end.

const float FAR = 3.4e38;  // viewer.kernels.records.FAR: infinity itself is not to be had in GLSL 3.30
