// Vertex program of every pass: squares of texels, at a given depth. Instances are tiles, given by their lowest texel.

in vec2 tile;           // texels
uniform vec2 clip;      // 2 / size of the stream, per texel
uniform float span;     // edge of a tile, texels
uniform float depth;    // window depth, 0 .. 1

void main() {
    vec2 corner = tile + span * vec2(gl_VertexID & 1, gl_VertexID >> 1);
    gl_Position = vec4(corner * clip - 1.0, 2.0 * depth - 1.0, 1.0);
}
