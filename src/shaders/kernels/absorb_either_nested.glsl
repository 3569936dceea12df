// As absorb_nested.glsl, of a gathering ray where one is on its way.
#include "kernels/absorb_nested.glsl"

int absorb_either_nested(
    inout Ray ray, in Hit hit, inout Path path, inout Media media, inout Path gathering, inout Media around
) {
    bool gathers = gathering.number >= 0;
    Path arriving = path;
    Media within = media;
    if (gathers) {
        arriving = gathering;
        within = around;
    }
    int way = absorb_nested(ray, hit, arriving, within);
    if (gathers) {
        gathering = arriving;
        around = within;
    } else {
        path = arriving;
        media = within;
    }
    return way;
}
