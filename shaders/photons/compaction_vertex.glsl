// Each photon with its cell, for the geometry program that keeps stored ones.
#include "photons/grid_uniforms.glsl"
#include "interface/photon_grid.glsl"

out vec4 entry;  // cell, place, 1 if stored

void main() {
    Photon photon = fetch_photons(gl_VertexID);
    int cell = photon_map_cell(photon_cell(photon.position), photon.stored == PHOTON_CAUSTIC);
    entry = vec4(float(cell), float(gl_VertexID), float(photon.stored), 0.0);
}
