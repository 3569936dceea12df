// The mask: the step that serves a ray's state becomes its depth, so that early-z lets a kernel run on just its rays.
// Purcell 2004, section 4.1.2. Needs: step_of.

uniform sampler2D in_state;

void main() {
    gl_FragDepth = float(step_of(int(texelFetch(in_state, ivec2(gl_FragCoord.xy), 0).x))) * DEPTH_OF_STEP;
}
