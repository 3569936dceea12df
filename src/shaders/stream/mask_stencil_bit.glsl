// The same for drivers whose fragment programs cannot choose the stencil: rays whose step has not this bit are discarded,
// and the bit is set for the others. Needs: step_of.

uniform sampler2D in_state;
uniform int bit;

void main() {
    if ((step_of(int(texelFetch(in_state, ivec2(gl_FragCoord.xy), 0).x)) & bit) == 0) discard;
}
