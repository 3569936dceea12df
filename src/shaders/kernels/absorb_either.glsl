// As absorb.glsl, of a gathering ray where one is on its way.
#include "kernels/absorb.glsl"

int absorb_either(in Ray ray, in Hit hit, inout Path path, inout Path gathering) {
    bool gathers = gathering.number >= 0;
    Path arriving = path;
    if (gathers) arriving = gathering;
    int way = absorb(ray, hit, arriving);
    if (gathers) gathering = arriving;
    else path = arriving;
    return way;
}
