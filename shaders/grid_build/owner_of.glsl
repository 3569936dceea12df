// The element of a list whose outputs hold a position, by the inclusive sums of the numbers of outputs (Horn 2005: gather
// by binary search). Needs fetch_sums; length : of the list, a power of two.
int owner_of(int position, int length) {
    int low = 0;
    for (int size = length >> 1; size > 0; size >>= 1) {
        if (fetch_sums(low + size - 1).count <= position) low += size;
    }
    return low;
}
