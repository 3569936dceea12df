// A step of the bitonic merge sort (K. Batcher, "Sorting networks and their applications", 1968; as a fragment program
// Purcell et al. 2003, section 2.2.1 and figure 3). Each element is compared with its partner, and takes the smaller or
// the larger of the two. Equal cells are ordered by photon, for a unique result.

uniform int partner;  // distance of the partner: run / 2, run / 4 .. 1
uniform int run;      // length of the runs merged in this step: 2, 4 .. all

bool before(Entry one, Entry other) {
    return one.cell < other.cell || (one.cell == other.cell && one.photon < other.photon);
}

Entry element(int number) {
    bool first = (number & partner) == 0;
    bool ascending = (number & run) == 0;
    Entry own = fetch_list(number);
    Entry other = fetch_list(first ? number + partner : number - partner);
    return before(own, other) == (first == ascending) ? own : other;
}
