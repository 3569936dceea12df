// A round point with a smooth edge.
flat in vec3 color;

out vec4 shown;  // premultiplied

void main() {
    float from_middle = 2.0 * length(gl_PointCoord - 0.5);
    float cover = 1.0 - smoothstep(0.5, 1.0, from_middle);
    shown = vec4(color * cover, cover);
}
