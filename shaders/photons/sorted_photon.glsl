// A photon of the sorted list (viewer/photons/grid.py). Needs photons and photon_list, which the kernel gathers.
#include "interface/photon_at.glsl"

Entry fetch_photon_list(int place);
Photon fetch_photons(int number);

Photon photon_at(int place) {
    return fetch_photons(fetch_photon_list(place).photon);
}
