// Copies a rectangle of records to row order, in a stream of another width. Records outside of the source are left
// alone. Needs: copy(ivec2), which copies the record at a texel.
#include "lib/texel_of.glsl"

uniform int width;     // of the target stream
uniform ivec2 wide;    // width of the rectangle, records in it
uniform ivec2 corner;  // lower left texel of the rectangle in the source; may lie outside
uniform ivec2 size;    // of the source

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    int number = texel.y * width + texel.x;
    ivec2 source_texel = corner + texel_of(number, wide.x);
    if (number >= wide.y || any(lessThan(source_texel, ivec2(0))) || any(greaterThanEqual(source_texel, size))) discard;
    copy(source_texel);
}
