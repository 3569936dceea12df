// For each cell the number of photons held in its footprint, and the scale of their powers (Purcell et al. 2003,
// section 2.2.2: power redistribution). By count: the cell's photons over those held, correct if all have similar
// power. By power: the cell's power over that held, per channel; a channel without any gives each photon an equal part
// of the missing power, stored as minus that power.
uniform int footprint_edge;
uniform int footprints_wide;
uniform int redistribution;
const int BY_COUNT = 1;
const int BY_POWER = 2;
#include "photons/footprint.glsl"

// The photons held and the scale of their powers, by the number of the cell.
RoutedCell element(int cell) {
    Total total = fetch_totals(cell);
    float texels = float(footprint_edge * footprint_edge);
    int held_count = int(min(total.photons, texels));
    vec3 scale = vec3(1.0);
    if (redistribution == BY_COUNT && held_count > 0) scale = vec3(total.photons / float(held_count));
    bool scales_power = redistribution == BY_POWER && total.photons > texels;
    vec3 held_power = vec3(0.0);
    int number = 0;
    if (scales_power) {
        do {
            held_power += fetch_photons(fetch_footprints(footprint_texel(cell, number)).photon).power;
            number += 1;
        } while (number < held_count);
        for (int channel = 0; channel < 3; channel++) {
            if (held_power[channel] > 0.0) scale[channel] = total.power[channel] / held_power[channel];
            else if (total.power[channel] > 0.0) scale[channel] = -total.power[channel] / float(held_count);
        }
    }
    return RoutedCell(scale, held_count);
}
