// Stencil mask for drivers without stencil export: rays whose step lacks this bit are discarded, and the bit is set for
// the others. Needs: step_of.

uniform sampler2D in_state;
uniform int bit;

void main() {
    if ((step_of(int(texelFetch(in_state, ivec2(gl_FragCoord.xy), 0).x)) & bit) == 0) discard;
}
