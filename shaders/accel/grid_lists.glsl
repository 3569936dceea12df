// The lists of a uniform grid. Purcell 2004, figure 5.1. Needs: Traversal with list, the address of the next entry, and
// the memory grid_lists: addresses of triangles, the last entry n of a list stored as -n - 1, which saves the null
// entry and its fetch.

int accel_candidate(inout Traversal traversal) {
    int entry = fetch_grid_lists(traversal.list).entry;
    bool is_last = entry < 0;
    traversal.list = is_last ? -1 : traversal.list + 1;
    return is_last ? -entry - 1 : entry;
}

bool accel_more(Traversal traversal) {
    return traversal.list >= 0;
}
