// Copies records in row order into a rectangle: the inverse of rows_from_rectangle.glsl. Needs: copy(ivec2), which
// copies the record at a texel.
#include "lib/texel_of.glsl"

uniform int width;     // of the source stream
uniform ivec2 wide;    // width of the rectangle, records in it
uniform ivec2 corner;  // lower left texel of the rectangle in the target; may lie outside

void main() {
    ivec2 place = ivec2(gl_FragCoord.xy) - corner;
    int number = place.y * wide.x + place.x;
    if (any(lessThan(place, ivec2(0))) || place.x >= wide.x || number >= wide.y) discard;
    copy(texel_of(number, width));
}
