// Fragment program of the visibility buffer: the place of the nearest triangle in the index buffer, and its instance.
// The depth that is compared is its reciprocal, linear in the picture: a float32 then tells apart what is near and far.
uniform int first;           // place of the draw's first triangle
uniform float least_depth;   // scene units

flat in int slot;

layout(location = 0) out vec2 out_visible;

void main() {
    out_visible = vec2(first + gl_PrimitiveID, slot);
    gl_FragDepth = least_depth * gl_FragCoord.w;
}
