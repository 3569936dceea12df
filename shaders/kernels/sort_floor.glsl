// Where the floor before a backdrop mirrors a surface: what is left of the backdrop is seen itself, and the floor is the
// path's first surface, which reflects as gloss.
#include "lib/sort_portion.glsl"

int sort_floor(inout LightShare share, inout Radiance portion, inout LightSplit split) {
    vec3 none = vec3(0.0);
    split = LightSplit(none, none, none, none, none, none, none, none);
    share = LightShare(none, 0.0);
    sort_portion(0, share, portion, split);
    return EXIT_DONE;
}
