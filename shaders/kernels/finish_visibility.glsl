// Begins the next sample of a pixel, or ends its work where it has as many as the film.

int finish_visibility(in Film film, inout Visibility visibility) {
    visibility.count += 1.0;
    return visibility.count < film.count ? EXIT_AGAIN : EXIT_DONE;
}
