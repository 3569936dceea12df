// Sorts the light of the place where a path has arrived; a path's first one clears what the one before has left.
#include "lib/sort_portion.glsl"

int sort_arrival(in Path path, in LightShare share, inout Radiance portion, inout LightSplit split) {
    if (path.depth == 0) {
        vec3 none = vec3(0.0);
        split = LightSplit(none, none, none, none, none, none, none, none);
    }
    sort_portion(path.depth, share, portion, split);
    return EXIT_DONE;
}
