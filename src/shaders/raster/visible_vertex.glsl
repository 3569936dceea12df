// Vertex program of the triangles that a pinhole sees, in the order of their index buffer. Coordinates are homogeneous,
// with the depth along the view as their last one; what is nearer than the least depth is cut.
uniform vec3 view_origin;    // the eye
uniform mat3 view_rows;      // from a place relative to it to column and row, -1 .. 1 times the depth, and depth
uniform float least_depth;   // scene units

in vec3 position;

void main() {
    vec3 at = (position - view_origin) * view_rows;
    gl_Position = vec4(at.xy, at.z - 2.0 * least_depth, at.z);
}
