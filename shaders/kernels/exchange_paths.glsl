// A surface's path waits while those of its final gather go the way of all others, and comes back behind them.

int exchange_paths(inout Path path, inout Path waiting) {
    Path other = path;
    path = waiting;
    waiting = other;
    return EXIT_DONE;
}
