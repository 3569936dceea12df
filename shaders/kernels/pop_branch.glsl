// Goes on with a ray that waited.
#include "interface/media.glsl"
#include "lib/far.glsl"
#include "lib/path_moment.glsl"
#include "lib/ray_tag.glsl"

#ifdef HAVE_MOTION
int pop_branch(in Pixel pixel, in Branch level, inout Path path, out Media media, inout Tree tree, out Ray ray) {
    int path_time = enter_time(pixel.at, path.number);
#else
int pop_branch(in Branch level, inout Path path, out Media media, inout Tree tree, out Ray ray) {
#endif
    ray = Ray(level.origin, FAR, level.direction, ray_tag(path.number, true) + path_time);
    path.throughput = level.weight;
    path.depth = level.depth;
    tree.channel = level.channel;
    media = media_of(level.inside);
    return EXIT_RAY;
}
