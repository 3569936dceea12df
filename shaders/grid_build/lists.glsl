// The triangle lists: triangle n, written -n - 1 where it is its voxel's last (viewer/accel/grid/grid.py, `ENTRY`).
uniform int entries;

// The entry at a position of the sorted list.
GridEntry element(int position) {
    Entry entry = fetch_list(position);
    bool is_last = position + 1 >= entries || fetch_list(position + 1).cell != entry.cell;
    return GridEntry(is_last ? -entry.photon - 1 : entry.photon);
}
