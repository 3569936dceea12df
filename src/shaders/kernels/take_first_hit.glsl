// Takes the hit of a camera ray that was found by drawing triangles, instead of walking to it.

int take_first_hit(in Hit first_hit, out Hit hit) {
    hit = first_hit;
    return EXIT_DONE;
}
