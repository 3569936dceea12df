// Depth mask: a ray's step becomes its depth, so that early-z restricts a kernel to its rays. Purcell 2004, section
// 4.1.2. Needs: step_of.

uniform sampler2D in_state;

void main() {
    gl_FragDepth = float(step_of(int(textureLod(in_state, gl_FragCoord.xy / vec2(textureSize(in_state, 0)), 0.0).x))) * DEPTH_OF_STEP;
}
