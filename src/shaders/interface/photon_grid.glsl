// The grid of the photon map: cells over a box, numbered x first; or, with buckets, cells without bounds, whose numbers
// are hashes (Purcell 2004, section 6.4.4), so that several cells may share one.
// What a module or a pass provides:
//   vec3 photon_grid_low           corner of the lowest cell, world
//   vec3 photon_grid_cell          edges of a cell, scene units
//   ivec3 photon_grid_resolution   cells along each axis
//   int photon_grid_buckets        cell numbers of the hash, a power of two; 0: the cells' own numbers
//   int photon_grid_kinds          2: caustic photons are apart, in cells numbered behind the others'; 1: they are not
#include "lib/hash.glsl"

// The cell of a position: of the box the nearest one.
ivec3 photon_cell(vec3 position) {
    vec3 at = floor((position - photon_grid_low) / photon_grid_cell);
    if (photon_grid_buckets > 0) return ivec3(clamp(at, vec3(-1e6), vec3(1e6)));
    return ivec3(clamp(at, vec3(0.0), vec3(photon_grid_resolution - 1)));
}

int photon_cell_number(ivec3 cell) {
    if (photon_grid_buckets > 0) return int(pcg4d(uvec4(ivec4(cell, 0))).x >> 8u) & (photon_grid_buckets - 1);
    return (cell.z * photon_grid_resolution.y + cell.y) * photon_grid_resolution.x + cell.x;
}

// Cell numbers that there are.
int photon_cells() {
    if (photon_grid_buckets > 0) return photon_grid_buckets;
    return photon_grid_resolution.x * photon_grid_resolution.y * photon_grid_resolution.z;
}

// The number of a cell in the map of caustic photons or of the others, or of both.
int photon_map_cell(ivec3 cell, bool caustic) {
    return photon_cell_number(cell) + (caustic && photon_grid_kinds > 1 ? photon_cells() : 0);
}

// The lowest and highest cells that there are about one, up to a distance in cells.
ivec3 photon_grid_first(ivec3 middle, int shell) {
    return photon_grid_buckets > 0 ? middle - shell : max(middle - shell, ivec3(0));
}
ivec3 photon_grid_last(ivec3 middle, int shell) {
    return photon_grid_buckets > 0 ? middle + shell : min(middle + shell, photon_grid_resolution - 1);
}
