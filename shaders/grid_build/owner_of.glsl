// The element of a list whose output holds a place, by the inclusive sums of all outputs (Horn 2005: gather by binary
// search). Needs fetch_sums; length : of the list, a power of two.
int owner_of(int place, int length) {
    int low = 0;
    for (int size = length >> 1; size > 0; size >>= 1) {
        if (fetch_sums(low + size - 1).count <= place) low += size;
    }
    return low;
}
