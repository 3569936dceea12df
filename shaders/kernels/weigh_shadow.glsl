// Counts light that has been sampled for a surface, and apart what of it something hides.
#include "lib/luminance.glsl"

int weigh_shadow(in Hit hit, in Radiance pending, inout Visibility visibility) {
    float light = dot(pending.rgb, LUMINANCE);
    visibility.light += light;
    if (hit.triangle >= 0) visibility.hidden += light;
    return EXIT_DONE;
}
