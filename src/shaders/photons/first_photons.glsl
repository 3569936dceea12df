// Binary search, all probes in one pass (Purcell et al. 2003, section 2.2.1): the place of a cell's first photon in the
// sorted list; of an empty cell, of the next one's first. Behind the last cell stands the number of photons stored. How
// many there are is the difference from the next cell's place: found here once, and not by every estimate again.

int first_of(int cell, int length) {
    int low = 0;
    for (int size = length; size > 0; size >>= 1) {
        int middle = low + size - 1;
        if (middle < length && fetch_list(middle).cell < cell) low = middle + 1;
    }
    return low;
}

First element(int number) {
    ivec2 size = textureSize(in_list_0, 0);  // of any list, by one program
    int length = size.x * size.y, first = first_of(number, length);
    return First(first, first_of(number + 1, length) - first);
}
