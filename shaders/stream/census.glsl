// Counts, for each tile of EDGE x EDGE rays, the rays waiting for each of up to four steps from FIRST on.
// Needs: step_of.

uniform sampler2D in_state;
uniform ivec2 size;  // of the stream
out vec4 counts;

void main() {
    ivec2 first_ray = ivec2(gl_FragCoord.xy) * EDGE;
    ivec2 end_ray = min(first_ray + EDGE, size);
    ivec4 tally = ivec4(0);
    for (int y = first_ray.y; y < end_ray.y; ++y) {
        for (int x = first_ray.x; x < end_ray.x; ++x) {
            int serving = step_of(int(texelFetch(in_state, ivec2(x, y), 0).x));
            tally += ivec4(equal(ivec4(serving - FIRST), ivec4(0, 1, 2, 3)));
        }
    }
    counts = vec4(tally);
}
