// The mask without writing depth in the fragment program: rays of other steps are discarded, the quad's depth stays.
// Needs: step_of.

uniform sampler2D in_state;
uniform int serves;  // number of the step

void main() {
    if (step_of(int(texelFetch(in_state, ivec2(gl_FragCoord.xy), 0).x)) != serves) discard;
}
