// Copies records in row order into a rectangle: the inverse of rows_from_rectangle.glsl. Needs: copy(ivec2), which
// copies the record at a texel.
#include "lib/texel_of.glsl"

uniform int width;     // of the source stream
uniform ivec2 wide;    // width of the rectangle, records in it
uniform ivec2 corner;  // lower left texel of the rectangle in the target; may lie outside

void main() {
    ivec2 in_rectangle = ivec2(gl_FragCoord.xy) - corner;
    int number = in_rectangle.y * wide.x + in_rectangle.x;
    if (any(lessThan(in_rectangle, ivec2(0))) || in_rectangle.x >= wide.x || number >= wide.y) discard;
    copy(texel_of(number, width));
}
