// Shows a linear picture in the window: exposure, tone map, sRGB (IEC 61966-2-1). Row 0 of the picture is its top.
// smooth_up = 1: filtered, for a picture of another size than the window.
#include "lib/srgb.glsl"
#include "lib/tonemap.glsl"

uniform sampler2D in_picture;
uniform vec2 window;     // size of the picture in the window, pixels
uniform float exposure;  // stops
uniform int curve;       // tone map: TONE_NONE and so on

out vec4 shown;

void main() {
    vec2 at = gl_FragCoord.xy / window;
    at.y = 1.0 - at.y;
    ivec2 size = textureSize(in_picture, 0);
    ivec2 texel = clamp(ivec2(at * vec2(size)), ivec2(0), size - 1);
    vec3 linear = smooth_up == 1 ? textureLod(in_picture, at, 0.0).rgb : texelFetch(in_picture, texel, 0).rgb;
    shown = vec4(srgb(tonemap(curve, linear * exp2(exposure))), 1.0);
}
