// Puts records that lie in row order into their rectangle: the inverse of rows_from_rectangle.glsl.
// Needs: copy(ivec2), which takes the record of that place over.
#include "lib/texel_of.glsl"

uniform int width;     // of the stream that is read
uniform ivec2 wide;    // width of the rectangle, records in it
uniform ivec2 corner;  // of the rectangle in what is drawn to: its lower left texel, which may lie outside

void main() {
    ivec2 place = ivec2(gl_FragCoord.xy) - corner;
    int number = place.y * wide.x + place.x;
    if (any(lessThan(place, ivec2(0))) || place.x >= wide.x || number >= wide.y) discard;
    copy(texel_of(number, width));
}
