// A final gather's first estimate is at the surface itself.

int place_spot(in Interaction interaction, out Interaction spot) {
    spot = interaction;
    return EXIT_SURFACE;
}
