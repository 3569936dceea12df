// The grid of the photon map, for passes without its module.
uniform vec3 photon_grid_low;
uniform vec3 photon_grid_cell;
uniform ivec3 photon_grid_resolution;
uniform int photon_grid_buckets;
uniform int photon_grid_kinds;
