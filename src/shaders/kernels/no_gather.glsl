// Of a camera's ray: it gathers nothing. A gathering path's number is below zero where none is on its way.

int no_gather(out Path gathering) {
    gathering = Path(vec3(0.0), 0.0, 0, -1, vec2(0.0));
    return EXIT_DONE;
}
