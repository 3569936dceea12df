// Depth mask without gl_FragDepth: rays of other steps are discarded, and the quad's depth is written. Needs: step_of.

uniform sampler2D in_state;
uniform int serves;  // number of the step

void main() {
    if (step_of(int(texelFetch(in_state, ivec2(gl_FragCoord.xy), 0).x)) != serves) discard;
}
