// Fragment program of the triangles that a pinhole sees: the place of the nearest one in the order they are drawn in.
// The depth that is compared is its reciprocal, linear in the picture: a float32 then tells apart what is near and far.
uniform int first;           // place of the draw's first triangle
uniform float least_depth;   // scene units

layout(location = 0) out float out_place;

void main() {
    out_place = float(first + gl_PrimitiveID);
    gl_FragDepth = least_depth * gl_FragCoord.w;
}
