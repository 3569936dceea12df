// Binary search, all probes in one pass (Purcell et al. 2003, section 2.2.1): the index of a cell's first element in
// the sorted list; for an empty cell, the next cell's. Needs fetch_list; length : of the list.
int first_of(int cell, int length) {
    int low = 0;
    for (int size = length; size > 0; size >>= 1) {
        int middle = low + size - 1;
        if (middle < length && fetch_list(middle).cell < cell) low = middle + 1;
    }
    return low;
}
