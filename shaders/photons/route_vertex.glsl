// A photon becomes a point over the footprint of its cell, of SIZE x SIZE texels: 1 for counts and powers by cell.
#include "photons/grid_uniforms.glsl"
#include "interface/photon_grid.glsl"

uniform ivec2 cells_wide;  // footprints along each edge of what is drawn to

flat out int cell;
flat out int photon;
flat out vec3 power;

void main() {
    Photon it = fetch_photons(gl_VertexID);
    cell = photon_cell_number(photon_cell(it.position));
    photon = gl_VertexID;
    power = it.power;
    vec2 middle = vec2(cell % cells_wide.x, cell / cells_wide.x) + 0.5;
    // What is not stored is clipped away.
    gl_Position = it.stored > 0 ? vec4(2.0 * middle / vec2(cells_wide) - 1.0, 0.0, 1.0) : vec4(2.0, 2.0, 2.0, 1.0);
    gl_PointSize = float(SIZE);
}
