// A surface's path waits while those of its final gather go the way of all others, and comes back behind them.

int exchange_paths(inout Path path, inout Path waiting) {
    Path previous = path;
    path = waiting;
    waiting = previous;
    return EXIT_DONE;
}
