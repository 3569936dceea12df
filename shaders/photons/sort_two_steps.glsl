// Two steps of the bitonic merge sort (sort_step.glsl) in one pass, by the partners at distance `partner` and half of
// it: each of the two elements that the second step compares is made here by the first.

uniform int partner;
uniform int run;
#include "photons/sort_order.glsl"

Entry after_first(int number) {
    return kept(fetch_list(number), fetch_list(number ^ partner), number, partner, run);
}

Entry element(int number) {
    int half_way = partner >> 1;
    return kept(after_first(number), after_first(number ^ half_way), number, half_way, run);
}
