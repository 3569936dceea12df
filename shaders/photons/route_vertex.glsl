// A photon as a point over its cell's footprint of SIZE x SIZE texels: 1 for counts and powers by cell.
#include "lib/texel_of.glsl"

uniform ivec2 cells_wide;  // footprints along each edge of the target

flat out int cell;
flat out int photon;
flat out vec3 power;

void main() {
    photon_of_point(cell, photon, power);
    vec2 middle = vec2(texel_of(cell, cells_wide.x)) + 0.5;
    gl_Position = vec4(2.0 * middle / vec2(cells_wide) - 1.0, 0.0, 1.0);
    gl_PointSize = float(SIZE);
}
