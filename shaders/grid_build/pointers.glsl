// For each voxel the address of its triangle list, -1 if it is empty (Purcell 2004, figure 5.1).
#include "photons/first_of.glsl"

// The pointer of a voxel, by its number.
Pointer element(int voxel) {
    ivec2 size = textureSize(in_list_0, 0);
    int length = size.x * size.y, first = first_of(voxel, length);
    return Pointer(first < length && fetch_list(first).cell == voxel ? first : -1);
}
