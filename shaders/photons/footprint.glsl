// Texels of a cell's photons under stencil routing. Needs int footprint_edge, texels along the edge of a footprint, and
// int footprints_wide, footprints in a row of the map.

#include "lib/texel_of.glsl"

// The texel of a cell's photon `place`: the first is where the stencil began as footprint_edge^2 - 1.
int footprint_texel(int cell, int number) {
    int texel_in_footprint = footprint_edge * footprint_edge - 1 - number;
    ivec2 corner = texel_of(cell, footprints_wide) * footprint_edge;
    ivec2 texel = corner + texel_of(texel_in_footprint, footprint_edge);
    return texel.y * (footprints_wide * footprint_edge) + texel.x;
}
