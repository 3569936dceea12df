// How the path's first surface scatters the light that it is lit with, from where the shadow ray has gone.
#include "interface/light_share.glsl"

int share_light(in Interaction interaction, in Ray ray, in Path path, inout LightShare share) {
    if (path.depth == 0) share = light_share(interaction, ray.direction, false);
    return EXIT_DONE;
}
