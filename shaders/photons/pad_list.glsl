// The list to sort: the stored photons, padded to a power of two with elements of a cell beyond the last, which sort to
// the end.

uniform int kept;        // photons
uniform int cells;

Entry element(int number) {
    if (number >= kept) return Entry(cells, number);
    return fetch_kept(number);
}
