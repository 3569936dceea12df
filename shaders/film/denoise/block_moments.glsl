// Moments of the light of a block of pixels, but for the brightest of them: a single one is not to hide itself.
// Needs the stream lit.
#include "lib/luminance.glsl"

uniform int side;  // of a block, pixels

const float MOST = 1e15;  // luminance whose square a float32 holds

BlockMoments element(ivec2 at) {
    ivec2 first = side * at, end = min(first + side, textureSize(in_lit_0, 0));
    float count = 0.0, sum = 0.0, squares = 0.0, brightest = 0.0;
    for (int y = first.y; y < end.y; ++y) {
        for (int x = first.x; x < end.x; ++x) {
            Lit lit = fetch_lit(ivec2(x, y));
            if (!(lit.nearness > 0.0)) continue;
            float luminance = clamp(dot(lit.rgb, LUMINANCE), 0.0, MOST), less = min(luminance, brightest);
            if (count > 0.0) {
                sum += less;
                squares += less * less;
            }
            brightest = max(brightest, luminance);
            count += 1.0;
        }
    }
    return BlockMoments(max(count - 1.0, 0.0), sum, squares);
}
