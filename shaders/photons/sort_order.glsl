// Of two elements of a list in the bitonic merge sort, the one that stays at the place of the first. Equal cells are
// ordered by photon, for a unique result. Numbers are columns and rows, with a bit in one of both: rows are a power of
// two long.

bool sorts_before(Entry one, Entry other) {
    return one.cell < other.cell || (one.cell == other.cell && one.photon < other.photon);
}

// entry, other : at `at` and at its partner; run : length of the runs merged.
Entry sorted_element(Entry entry, Entry other, ivec2 at, ivec2 partner, ivec2 run) {
    bool is_first = (at & partner) == ivec2(0);
    bool ascending = (at & run) == ivec2(0);
    return sorts_before(entry, other) == (is_first == ascending) ? entry : other;
}
