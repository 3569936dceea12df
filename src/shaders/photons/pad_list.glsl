// The list that is sorted: the photons that are stored, and up to a power of two elements with a cell beyond the last,
// which end up behind all others.

uniform int kept;        // photons
uniform int cells;

Entry element(int number) {
    if (number >= kept) return Entry(cells, number);
    return fetch_kept(number);
}
