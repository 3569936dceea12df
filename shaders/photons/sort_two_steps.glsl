// Two steps of the bitonic merge sort (sort_step.glsl) in one pass, by the partners at the distances `partner` and
// `half_way`: each of the two elements that the second step compares is made here by the first.

uniform ivec2 partner;
uniform ivec2 half_way;
uniform ivec2 run;
#include "photons/sort_order.glsl"

Entry after_first(ivec2 at) {
    return sorted_element(fetch_list(at), fetch_list(at ^ partner), at, partner, run);
}

Entry element(ivec2 at) {
    return sorted_element(after_first(at), after_first(at ^ half_way), at, half_way, run);
}
