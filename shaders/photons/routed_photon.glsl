// A photon of a footprint (viewer/photons/grid.py), its power scaled so that the cell has the power of all its
// photons (Purcell et al. 2003, section 2.2.2: power redistribution). Needs photons, footprints and routed_cells, which
// the kernel gathers, and the uniforms int footprint_edge; and footprint_texel.
#include "interface/photon_at.glsl"

RoutedCell fetch_routed_cells(int cell);
Entry fetch_footprints(int texel);
Photon fetch_photons(int number);

// The photon of a number that photons_of_cell gives.
Photon photon_at(int place) {
    ivec2 cell_and_number = texel_of(place, footprint_edge * footprint_edge);
    int cell = cell_and_number.y;
    Photon photon = fetch_photons(fetch_footprints(footprint_texel(cell, cell_and_number.x)).photon);
    vec3 scale = fetch_routed_cells(cell).scale;
    photon.power = mix(photon.power * scale, -scale, lessThan(scale, vec3(0.0)));
    return photon;
}
