// Fragment program of the first picture: a surface's colour under a headlight at the eye.
#include "lib/srgb.glsl"

uniform float least_depth;  // scene units
uniform float white;        // radiance of a white surface that faces the eye
uniform sampler2DArray in_base_colors;

in vec3 towards;
in vec3 facing;
in vec4 color;
in vec4 glow;
in vec3 fuzz;
in vec2 place;
flat in float layer;
flat in float cutoff;

layout(location = 0, index = 0) out vec4 out_shown;    // and nearness
layout(location = 0, index = 1) out vec4 out_through;  // the share of what is behind that is seen, where that is blended

const float AMBIENT = 0.12;   // so that what is seen edge-on does not vanish
const float MIRRORED = 0.08;  // by both sides of glass

void main() {
    vec4 sampled = texture(in_base_colors, vec3(place, max(layer, 0.0)));
    vec4 base = color;
    if (layer >= 0.0) {
        base *= vec4(linear_from_srgb(sampled.rgb), sampled.a);
    }
    if (cutoff != 0.0) {
        if (base.a < cutoff) {
            discard;
        }
        base.a = 1.0;
    }
    vec3 normal = dot(facing, facing) > 0.0 ? facing : cross(dFdx(towards), dFdy(towards));
    float cosine = abs(dot(normal, towards)) / max(length(normal) * length(towards), 1e-37);
    float shade = mix(AMBIENT, 1.0, cosine), transmitted = glow.a;
    vec3 scattered = (1.0 - transmitted) * base.rgb * shade + fuzz * shade + transmitted * MIRRORED;
    out_shown = vec4(base.a * (glow.rgb + white * scattered), gl_FragCoord.w);
    out_through = vec4(1.0 - base.a + base.a * transmitted * (1.0 - MIRRORED) * base.rgb, 1.0);
    gl_FragDepth = least_depth * gl_FragCoord.w;
}
