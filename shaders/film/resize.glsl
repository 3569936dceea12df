// A picture at another size, filtered: what is shown until the new size is rendered.

uniform sampler2D in_picture;
uniform vec2 size;   // that it fills, pixels
uniform float left;  // of these in the framebuffer

out vec4 resized;

void main() {
    resized = textureLod(in_picture, vec2(gl_FragCoord.x - left, gl_FragCoord.y) / size, 0.0);
}
