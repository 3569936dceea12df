// The index of a cell's first photon in the sorted list, by binary search; for an empty cell, the next cell's. After
// the last cell comes the number of photons stored. A cell's count is the difference from the next cell's index:
// computed here once, not in every estimate.
#include "photons/first_of.glsl"

First element(int number) {
    ivec2 size = textureSize(in_list_0, 0);  // of any list, with one program
    int length = size.x * size.y, first = first_of(number, length);
    return First(first, first_of(number + 1, length) - first);
}
