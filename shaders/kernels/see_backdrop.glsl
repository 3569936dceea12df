// Where a camera ray arrives: at a surface, or before the backdrop, which is seen and lights nothing.
#include "interface/background.glsl"
#include "interface/path.glsl"
#include "lib/blind_ray.glsl"

int see_backdrop(in Ray ray, in Hit hit, inout Radiance radiance) {
    if (hit.triangle >= 0) return EXIT_SURFACE;
    if (sees_nothing(ray)) return EXIT_END;
    if (path_counts(0)) radiance.rgb += background_radiance(ray.direction);
    return EXIT_END;
}
