// The mean luminance of each block of `edge` x `edge` pixels, for the exposure. The twin of
// raystream.film.tonemap.block_means.
#include "lib/luminance.glsl"

uniform sampler2D in_picture;
uniform int edge;

out vec4 mean;

void main() {
    ivec2 low = ivec2(gl_FragCoord.xy) * edge;
    ivec2 high = min(low + edge, textureSize(in_picture, 0));
    float sum = 0.0;
    for (int y = low.y; y < high.y; ++y) {
        for (int x = low.x; x < high.x; ++x) {
            float light = dot(texelFetch(in_picture, ivec2(x, y), 0).rgb, LUMINANCE);
            sum += light > 0.0 && light < 1e30 ? light : 0.0;  // false for NaN
        }
    }
    ivec2 pixels = high - low;
    mean = vec4(sum / float(pixels.x * pixels.y), 0.0, 0.0, 1.0);
}
