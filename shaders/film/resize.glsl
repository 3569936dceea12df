// A picture resampled with a filter, shown until its new size is rendered.

uniform sampler2D in_picture;
uniform vec2 size;  // of the target, pixels

out vec4 resized;

void main() {
    resized = textureLod(in_picture, gl_FragCoord.xy / size, 0.0);
}
