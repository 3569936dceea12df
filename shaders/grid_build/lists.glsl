// The triangle lists: triangle n, written -n - 1 where it is its voxel's last (viewer/accel/grid/grid.py, `ENTRY`).
uniform int entries;

GridEntry element(int place) {
    Entry entry = fetch_list(place);
    bool last = place + 1 >= entries || fetch_list(place + 1).cell != entry.cell;
    return GridEntry(last ? -entry.photon - 1 : entry.photon);
}
