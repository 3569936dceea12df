// The pixels of a rectangle of the picture, in row order: the input of programs that make pictures. Needs: the record
// Pixel and pack_Pixel.
#include "lib/texel_of.glsl"

uniform int width;     // of the stream
uniform int wide;      // width of the rectangle, pixels
uniform ivec2 corner;  // its upper left pixel

out vec4 out_0;

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    int number = at.y * width + at.x;
    pack_Pixel(Pixel(corner + texel_of(number, wide)), out_0);
}
