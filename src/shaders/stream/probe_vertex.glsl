// Vertex program of a probe: one triangle over the whole target.

void main() {
    gl_Position = vec4(4.0 * float(gl_VertexID & 1) - 1.0, 2.0 * float(gl_VertexID & 2) - 1.0, 0.0, 1.0);
}
