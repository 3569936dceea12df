// One bit of a footprint's initial stencil pattern: 0, 1 .. EDGE^2 - 1 in row order.

uniform int bit;

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy) % EDGE;
    if (((at.y * EDGE + at.x) & bit) == 0) discard;
}
