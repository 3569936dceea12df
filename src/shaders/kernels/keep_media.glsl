// A gathering ray begins within the media of its surface.

int keep_media(in Media media, out Media around) {
    around = media;
    return EXIT_DONE;
}
