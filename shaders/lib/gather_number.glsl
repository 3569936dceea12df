// Random numbers of final gathers. All rays of a pixel's samples are counted through, so that those of one sample are
// spread evenly, too; what exceeds the number of a sample goes on in dimensions of its own, behind those of paths.
// A gather has 64 surfaces, of which the first half are those that it may begin at.
// The number of a gathering path is -1 before its first ray, -2 on that, and so on down.

// Which of a gather's rays is on its way, from 0; -1: none is yet.
int gathering_turn(Path gathering) {
    return -2 - gathering.number;
}

// The first dimension of a surface that a gathering path leaves.
int gather_dimension(int rays, int sample_number, int ray, int surface) {
    const int whole = 128 * DIMENSIONS_OF_SURFACE;
    return whole / 2 + DIMENSIONS_OF_SURFACE * surface + whole * (((sample_number * rays + ray) >> 16) % (65536 / whole - 1));
}

int gather_number(int rays, int sample_number, int ray) {
    return (sample_number * rays + ray) & 65535;
}
