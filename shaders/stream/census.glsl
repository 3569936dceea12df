// Counts, for each tile of EDGE x EDGE rays, the rays waiting for each of up to four steps from FIRST on.
// Needs: step_of.

uniform sampler2D in_state;
uniform ivec2 size;  // of the stream
out vec4 counts;

void main() {
    ivec2 low = ivec2(gl_FragCoord.xy) * EDGE;
    ivec2 high = min(low + EDGE, size);
    ivec4 tally = ivec4(0);
    for (int y = low.y; y < high.y; ++y) {
        for (int x = low.x; x < high.x; ++x) {
            int serving = step_of(int(texelFetch(in_state, ivec2(x, y), 0).x));
            tally += ivec4(equal(ivec4(serving - FIRST), ivec4(0, 1, 2, 3)));
        }
    }
    counts = vec4(tally);
}
