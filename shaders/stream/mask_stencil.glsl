// Stencil mask of Purcell et al. 2002, section 3.2: a ray's step becomes its stencil value, so that the early stencil
// test restricts a kernel to its rays. Needs: step_of, ARB_shader_stencil_export.

uniform sampler2D in_state;

void main() {
    gl_FragStencilRefARB = step_of(int(texelFetch(in_state, ivec2(gl_FragCoord.xy), 0).x));
}
