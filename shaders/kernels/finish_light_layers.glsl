// Adds a finished sample's layers to the pixel's sums, and lets the next one of its film begin.
#include "lib/add_light_split.glsl"

int finish_light_layers(in LightSplit split, in Film film, inout LightSums sums) {
    add_light_split(split, sums);
    return sums.count < film.count ? EXIT_AGAIN : EXIT_DONE;
}
