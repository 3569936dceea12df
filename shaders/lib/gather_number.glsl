// Random numbers of final gathers. All rays of a pixel's samples are counted through, so that those of one sample are
// spread evenly, too; what exceeds the number of a sample goes on in dimensions of its own, behind those of paths.
// The first of the 8 dimensions of a surface that a gathering path leaves.
int gather_dimension(int rays, int sample_number, int ray, int surface) {
    return 512 + 8 * surface + 1024 * (((sample_number * rays + ray) >> 16) % 63);
}

int gather_number(int rays, int sample_number, int ray) {
    return (sample_number * rays + ray) & 65535;
}
