// Ends of lines in space, under a pinhole camera; parts behind it are clipped.
uniform vec3 eye;
uniform vec3 rightward;   // see seen_vertex.glsl
uniform vec3 upward;
uniform vec3 forward;
uniform float near;    // scene units

in vec3 place;
in vec4 ink;           // premultiplied
flat out vec4 color;

void main() {
    vec3 relative = place - eye;
    float depth = dot(relative, forward);
    color = ink;
    gl_Position = vec4(dot(relative, rightward), dot(relative, upward), depth - 2.0 * near, depth);
}
