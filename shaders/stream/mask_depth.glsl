// Depth mask: a ray's step becomes its depth, so that early-z restricts a kernel to its rays. Purcell 2004, section
// 4.1.2. Needs: step_of.

uniform sampler2D in_state;

void main() {
    gl_FragDepth = float(step_of(int(texelFetch(in_state, ivec2(gl_FragCoord.xy), 0).x))) * DEPTH_OF_STEP;
}
