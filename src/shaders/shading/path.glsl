// The settings of a path tracer, and what follows from them.
#include "interface/path.glsl"

bool path_counts(int surfaces) {
    return path_bounce < 0 || surfaces == path_bounce;
}

float mis_weight(float mine, float other) {
    float ratio = other / mine;  // whose square may be infinite, where that of a density may not
    return mine > 0.0 ? 1.0 / (1.0 + ratio * ratio) : 0.0;
}
