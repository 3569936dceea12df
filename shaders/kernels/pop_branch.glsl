// Goes on with a ray that waited.
#include "interface/media.glsl"
#include "lib/far.glsl"
#ifdef HAVE_CULLED
#include "lib/view_ray.glsl"
#endif

int pop_branch(in Branch level, inout Path path, out Media media, inout Tree tree, out Ray ray) {
    ray = Ray(level.origin, FAR, level.direction, 0);
#ifdef HAVE_BLEND
    ray.any_hit += 2 * (path.number & 65535);
#endif
#ifdef HAVE_CULLED
    ray.any_hit += RAY_VIEW;
#endif
    path.throughput = level.weight;
    path.depth = level.depth;
    tree.channel = level.channel;
    media = media_of(level.inside);
    return EXIT_RAY;
}
