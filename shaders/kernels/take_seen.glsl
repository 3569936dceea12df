// Takes the hit of a camera ray that was found by drawing triangles, instead of walking to it.

int take_seen(in Hit seen, out Hit hit) {
    hit = seen;
    return EXIT_DONE;
}
