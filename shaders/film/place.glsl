// Copies a finished tile to its rectangle of the frame: its radiance, or the mean of a film. The tile's rays lie in row
// order in its stream.
#include "lib/texel_of.glsl"

uniform sampler2D in_tile;  // linear sRGB in rgb: radiance, or a film's sum with the number of samples in a
uniform int summed;         // 1: a film
uniform ivec2 corner;       // the rectangle's upper left pixel; row 0 is the frame's top
uniform int wide;           // its width, pixels

out vec4 placed;

void main() {
    ivec2 within = ivec2(gl_FragCoord.xy) - corner;
    int ray = within.y * wide + within.x, columns = textureSize(in_tile, 0).x;
    vec4 held = texelFetch(in_tile, texel_of(ray, columns), 0);
    placed = vec4(summed == 1 ? held.rgb / max(held.a, 1.0) : held.rgb, 1.0);
}
