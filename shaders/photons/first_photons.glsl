// Binary search, all probes in one pass (Purcell et al. 2003, section 2.2.1): the index of a cell's first photon in the
// sorted list; for an empty cell, the next cell's. After the last cell comes the number of photons stored. A cell's
// count is the difference from the next cell's index: computed here once, not in every estimate.

int first_of(int cell, int length) {
    int low = 0;
    for (int size = length; size > 0; size >>= 1) {
        int middle = low + size - 1;
        if (middle < length && fetch_list(middle).cell < cell) low = middle + 1;
    }
    return low;
}

First element(int number) {
    ivec2 size = textureSize(in_list_0, 0);  // of any list, with one program
    int length = size.x * size.y, first = first_of(number, length);
    return First(first, first_of(number + 1, length) - first);
}
