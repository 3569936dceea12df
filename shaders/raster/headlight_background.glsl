// Fragment program of the first picture's background: a picture of all directions, longitude across, latitude down.
uniform mat3 view_columns;        // from column and row, -1 .. 1, and 1, to the world
uniform vec2 size;                // of the picture, pixels
uniform sampler2D in_background;  // its first row is around +Y, its middle column faces +X

layout(location = 0) out vec4 out_shown;

const float PI = 3.14159265358979;

void main() {
    vec3 direction = normalize(view_columns * vec3(2.0 * gl_FragCoord.xy / size - 1.0, 1.0));
    vec2 at = vec2(0.5 + atan(direction.z, direction.x) / (2.0 * PI), acos(clamp(direction.y, -1.0, 1.0)) / PI);
    out_shown = vec4(textureLod(in_background, at, 0.0).rgb, 0.0);
}
