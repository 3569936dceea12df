// The settings of a path tracer, and what follows from them.
#include "interface/path.glsl"

bool path_counts(int surfaces) {
    return path_bounce < 0 || surfaces == path_bounce;
}

float path_weight(float mine, float other) {
    return mine > 0.0 ? mine / (mine + other) : 0.0;
}
