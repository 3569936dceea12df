// Takes the radiance of a finished tile to its rectangle of the frame. The tile's rays lie in row order in its stream.

uniform sampler2D in_radiance;  // linear sRGB in rgb
uniform ivec2 corner;           // the rectangle's upper left pixel; row 0 is the frame's top
uniform int wide;               // its width, pixels

out vec4 placed;

void main() {
    ivec2 within = ivec2(gl_FragCoord.xy) - corner;
    int ray = within.y * wide + within.x, columns = textureSize(in_radiance, 0).x;
    placed = vec4(texelFetch(in_radiance, ivec2(ray % columns, ray / columns), 0).rgb, 1.0);
}
