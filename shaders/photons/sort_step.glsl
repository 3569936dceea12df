// A step of the bitonic merge sort (K. Batcher, "Sorting networks and their applications", 1968; as a fragment program
// Purcell et al. 2003, section 2.2.1 and figure 3). Each element is compared with its partner, and takes the smaller or
// the larger of the two.

uniform ivec2 partner;  // distance of the partner: run / 2, run / 4 .. 1
uniform ivec2 run;      // length of the runs merged in this step: 2, 4 .. all
#include "photons/sort_order.glsl"

Entry element(ivec2 at) {
    return sorted_element(fetch_list(at), fetch_list(at ^ partner), at, partner, run);
}
