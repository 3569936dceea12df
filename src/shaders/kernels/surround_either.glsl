// As surround.glsl, of a gathering ray where one is on its way.
#include "kernels/surround.glsl"

int surround_either(in Media media, in Media around, in Path gathering, inout Interaction spot) {
    bool gathers = gathering.number >= 0;
    Media within = media;
    if (gathers) within = around;
    int way = surround(within, spot);
    return gathers ? EXIT_GATHERED : EXIT_SURFACE;
}
