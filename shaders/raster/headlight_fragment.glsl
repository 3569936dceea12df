// Fragment program of the first picture: a surface's colour under a headlight at the eye, as it is to be displayed.
uniform float least_depth;  // scene units
uniform float gain;         // by which linear sRGB is brighter once the exposure is undone

in vec3 towards;
in vec3 facing;
in vec3 color;

layout(location = 0) out vec4 out_shown;

const float AMBIENT = 0.12;  // so that what is seen edge-on does not vanish

void main() {
    vec3 normal = dot(facing, facing) > 0.0 ? facing : cross(dFdx(towards), dFdy(towards));
    float cosine = abs(dot(normal, towards)) / max(length(normal) * length(towards), 1e-37);
    out_shown = vec4(gain * color * mix(AMBIENT, 1.0, cosine), gl_FragCoord.w);
    gl_FragDepth = least_depth * gl_FragCoord.w;
}
