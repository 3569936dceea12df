// Vertex program of every pass: squares of texels as two triangles each, at a given depth.

in vec2 corner;         // texels
uniform vec2 clip;      // 2 / size of the stream, per texel
uniform float depth;    // window depth, 0 .. 1

void main() {
    gl_Position = vec4(corner * clip - 1.0, 2.0 * depth - 1.0, 1.0);
}
