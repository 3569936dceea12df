// Goes on with a ray that waited.

int pop_branch(in Branch level, inout Path path, inout Tree tree, out Ray ray) {
    ray = Ray(level.origin, 3.4e38, level.direction, 0);
    path.throughput = level.weight;
    path.depth = level.depth;
    path.wo = -level.direction;
    tree.channel = level.channel;
    return EXIT_RAY;
}
