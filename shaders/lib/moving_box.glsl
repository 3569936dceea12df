// Boxes that move in a table of nodes: those of nodes that stand still, then of the others at the first key, at the
// second, and so on. In between they are linear (L. Gruenschloss et al., "MSBVH: An Efficient Acceleration Data Structure
// for Ray Traced Motion Blur", 2011).
#include "lib/moment.glsl"

// The address of a node at the key before a moment; next_number: at the key behind it, fraction: of the way there.
// keys: nodes that stand still, nodes that move, segments between keys.
int box_before(int moment, int number, ivec3 keys, out int next_number, out float fraction) {
    int first_number = number + key_before(moment, keys.z, fraction) * keys.y;
    bool moves = number >= keys.x;
    next_number = moves ? first_number + keys.y : number;
    return moves ? first_number : number;
}
