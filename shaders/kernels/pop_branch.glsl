// Goes on with a ray that waited.
#include "interface/media.glsl"
#include "lib/far.glsl"
#include "lib/ray_tag.glsl"

int pop_branch(in Branch level, inout Path path, out Media media, inout Tree tree, out Ray ray) {
    ray = Ray(level.origin, FAR, level.direction, ray_tag(path.number, true));
    path.throughput = level.weight;
    path.depth = level.depth;
    tree.channel = level.channel;
    media = media_of(level.inside);
    return EXIT_RAY;
}
