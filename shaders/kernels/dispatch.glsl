// Where a ray goes on that has arrived: a gathering ray, whose number is below zero, returns to its gather. One that meets
// no surface has ended, which its depth says.

int dispatch(in Hit hit, inout Path path) {
    if (path.number >= 0) return EXIT_OWN;
    if (hit.triangle < 0) path.depth = -1;
    return EXIT_GATHERING;
}
