// A round point with a smooth edge.
flat in vec3 color;

out vec4 shown;  // premultiplied

void main() {
    float radius = 2.0 * length(gl_PointCoord - 0.5);
    float coverage = 1.0 - smoothstep(0.5, 1.0, radius);
    shown = vec4(color * coverage, coverage);
}
