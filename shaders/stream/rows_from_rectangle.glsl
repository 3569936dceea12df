// Copies a rectangle of records to row order, in a stream of another width. Records outside of the source are left
// alone. Needs: copy(ivec2), which copies the record at a texel.
#include "lib/texel_of.glsl"

uniform int width;     // of the target stream
uniform ivec2 wide;    // width of the rectangle, records in it
uniform ivec2 corner;  // lower left texel of the rectangle in the source; may lie outside
uniform ivec2 size;    // of the source

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    int number = at.y * width + at.x;
    ivec2 place = corner + texel_of(number, wide.x);
    if (number >= wide.y || any(lessThan(place, ivec2(0))) || any(greaterThanEqual(place, size))) discard;
    copy(place);
}
