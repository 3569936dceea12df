// Counts a ray into the hemisphere that meets something near.

int weigh_occlusion(in Hit hit, inout Visibility visibility) {
    if (hit.triangle >= 0) visibility.near += 1.0;
    return EXIT_DONE;
}
