// A picture resampled with a filter, shown until its new size is rendered.

uniform sampler2D in_picture;
uniform vec2 size;   // of the target, pixels
uniform float left;  // left edge in the framebuffer, pixels

out vec4 resized;

void main() {
    resized = textureLod(in_picture, vec2(gl_FragCoord.x - left, gl_FragCoord.y) / size, 0.0);
}
