// Lays a rectangle of records out in row order, as a stream holds them whose width is another. Needs: copy(ivec2),
// which takes the record of that place over.

uniform int width;     // of the stream
uniform ivec2 wide;    // width of the rectangle, texels in it
uniform ivec2 corner;  // its lower left texel

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    int number = at.y * width + at.x;
    if (number >= wide.y) discard;
    copy(corner + ivec2(number % wide.x, number / wide.x));
}
