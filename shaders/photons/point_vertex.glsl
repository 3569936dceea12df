// The photon of a point, from vertices of photons read back to the host (Purcell et al. 2003, section 2.2.2).
#include "photons/grid_uniforms.glsl"
#include "interface/photon_grid.glsl"

in vec3 at;
in vec3 carried;     // its power
in float number;
in float kind;       // Photon.stored

void photon_of_point(out int cell, out int photon, out vec3 power) {
    cell = photon_map_cell(photon_cell(at), int(kind) == PHOTON_CAUSTIC);
    photon = int(number);
    power = carried;
}
