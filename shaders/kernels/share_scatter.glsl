// How the path's first surface scatters whatever comes from where the path goes on.
#include "interface/light_share.glsl"

int share_scatter(in Interaction interaction, in Ray ray, in Path path, inout LightShare share) {
    if (path.depth == 1) share = light_share(interaction, ray.direction, path.pdf <= 0.0);
    return EXIT_DONE;
}
