// Of two elements of a list in the bitonic merge sort, the one that stays at the place of the first. Equal cells are
// ordered by photon, for a unique result.

bool before(Entry one, Entry other) {
    return one.cell < other.cell || (one.cell == other.cell && one.photon < other.photon);
}

// own, other : at number and at its partner; run : length of the runs merged.
Entry kept(Entry own, Entry other, int number, int partner, int run) {
    bool first = (number & partner) == 0;
    bool ascending = (number & run) == 0;
    return before(own, other) == (first == ascending) ? own : other;
}
