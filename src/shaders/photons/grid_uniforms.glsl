// The grid of the photon map, for passes that no module serves.
uniform vec3 photon_grid_low;
uniform vec3 photon_grid_cell;
uniform ivec3 photon_grid_resolution;
uniform int photon_grid_buckets;
uniform int photon_grid_kinds;
