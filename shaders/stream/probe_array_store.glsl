// Whether neighbouring pixels store into a local array each at its own index, as a traversal stack does: each pixel
// marks the component of its column. GLSL 3.30, 4.1.9: any integer expression may index an array.

out vec4 marked;

void main() {
    float marks[4];
    for (int k = 0; k < 4; k++) marks[k] = 0.0;
    marks[int(gl_FragCoord.x) & 3] = 1.0;
    marked = vec4(marks[0], marks[1], marks[2], marks[3]);
}
