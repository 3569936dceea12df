// Fragment program of the panels: ink times texture, premultiplied with its alpha (Porter and Duff 1984).

uniform sampler2D in_texture;  // the font's atlas, or a picture

in vec2 texel;
in vec4 color;
out vec4 inked;

void main() {
    vec4 straight = color * texture(in_texture, texel);
    inked = vec4(straight.rgb * straight.a, straight.a);
}
