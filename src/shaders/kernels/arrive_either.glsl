// As arrive.glsl, or where a gathering ray is on its way as arrive_gathering.glsl: what a surface is is in the source once.
// A gathering ray that meets none has ended, which its depth says.
#include "kernels/arrive.glsl"

int arrive_either(
    in Ray ray, in Hit hit, in Path path, inout Path gathering, inout Radiance radiance, out Interaction spot
) {
    bool gathers = gathering.number >= 0;
    Path arriving = path;
    if (gathers) arriving.cone = vec2(0.0);
    Radiance brought = radiance;
    int way = arrive(ray, hit, arriving, brought, spot);
    if (!gathers) {
        radiance = brought;
        return way;
    }
    if (hit.triangle < 0) gathering.depth = -1;
    return hit.triangle < 0 ? EXIT_MISS : EXIT_GATHERED;
}
