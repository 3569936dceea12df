// Lays a rectangle of records out in row order, as a stream holds them whose width is another. Records that the source
// has not are left alone. Needs: copy(ivec2), which takes the record of that place over.
#include "lib/texel_of.glsl"

uniform int width;     // of the stream that is drawn to
uniform ivec2 wide;    // width of the rectangle, records in it
uniform ivec2 corner;  // of the rectangle in the source: its lower left texel, which may lie outside
uniform ivec2 size;    // of the source

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    int number = at.y * width + at.x;
    ivec2 place = corner + texel_of(number, wide.x);
    if (number >= wide.y || any(lessThan(place, ivec2(0))) || any(greaterThanEqual(place, size))) discard;
    copy(place);
}
