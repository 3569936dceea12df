// Random numbers of final gathers. All rays of a pixel's samples are numbered together, so that those of one sample are
// evenly distributed, too; numbers beyond a sample's use dimensions of their own, after those of paths. A gather has 64
// surfaces, of which the first half are possible starting points.
// The number of a gathering path is -1 before its first ray, -2 on that, and so on down.

// Which of a gather's rays is on its way, from 0; -1: none is yet.
int gathering_index(Path gathering) {
    return -2 - gathering.number;
}

// The first dimension of a surface on a gather path.
int gather_dimension(int rays, int sample_number, int ray, int surface) {
    const int whole = 128 * DIMENSIONS_OF_SURFACE;
    return whole / 2 + DIMENSIONS_OF_SURFACE * surface + whole * (((sample_number * rays + ray) >> 16) % (65536 / whole - 1));
}

int gather_number(int rays, int sample_number, int ray) {
    return (sample_number * rays + ray) & 65535;
}
