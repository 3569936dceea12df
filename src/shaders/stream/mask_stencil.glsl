// The mask of Purcell et al. 2002, section 3.2: the step that serves a ray's state becomes its stencil, so that the early
// stencil test lets a kernel run on just its rays. Needs: step_of, ARB_shader_stencil_export.

uniform sampler2D in_state;

void main() {
    gl_FragStencilRefARB = step_of(int(texelFetch(in_state, ivec2(gl_FragCoord.xy), 0).x));
}
