// Separates the rays of a run: the chosen ones (a number above 0), or the others, are drawn, the rest discarded. A
// depth buffer receives the quad's own depth, a stream of states 0, done.

uniform sampler2D in_chosen;
uniform int wanted;  // 1: the chosen ones, 0: the others
out vec4 done;

void main() {
    if ((texelFetch(in_chosen, ivec2(gl_FragCoord.xy), 0).x > 0.0) != (wanted == 1)) discard;
    done = vec4(0.0);
}
