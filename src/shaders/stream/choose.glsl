// Lays the rays of a run apart: those that are chosen (a number above 0), or the others, are drawn, the rest is
// discarded. To a depth buffer the quad's own depth goes, to a stream of states 0, which is done.

uniform sampler2D in_chosen;
uniform int wanted;  // 1: the chosen ones, 0: the others
out vec4 done;

void main() {
    if ((texelFetch(in_chosen, ivec2(gl_FragCoord.xy), 0).x > 0.0) != (wanted == 1)) discard;
    done = vec4(0.0);
}
