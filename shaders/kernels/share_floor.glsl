// The floor before a backdrop is the path's first surface where it mirrors another, and reflects as gloss.

int share_floor(out LightShare share) {
    share = LightShare(vec3(0.0), 0.0);
    return EXIT_DONE;
}
