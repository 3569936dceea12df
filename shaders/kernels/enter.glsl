// A ray begins outside of all volumes.

int enter(out Media media) {
    media = Media(0);
    return EXIT_DONE;
}
