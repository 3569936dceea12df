// Sorts the light that a surface has been lit with: over one surface more than the path has left.
#include "lib/sort_portion.glsl"

int sort_light(in Path path, in LightShare share, inout Radiance portion, inout LightSplit split) {
    sort_portion(path.depth + 1, share, portion, split);
    return EXIT_DONE;
}
