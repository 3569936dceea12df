// Copies a surface and the media before it: a final gather's first estimate is at the surface itself.

int copy_surface(in Interaction source, in Media source_media, out Interaction copy, out Media copy_media) {
    copy = source;
    copy_media = source_media;
    return EXIT_DONE;
}
