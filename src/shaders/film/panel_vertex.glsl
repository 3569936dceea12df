// Vertex program of the panels: Dear ImGui's triangles, in units of the window with (0, 0) in its upper left corner.

in vec2 place;
in vec2 at;   // in the texture
in vec4 ink;  // sRGB, straight alpha
uniform vec2 corner;  // the window's upper left corner
uniform vec2 size;    // of the window

out vec2 texel;
out vec4 color;

void main() {
    texel = at;
    color = ink;
    vec2 share = (place - corner) / size;
    gl_Position = vec4(2.0 * share.x - 1.0, 1.0 - 2.0 * share.y, 0.0, 1.0);
}
