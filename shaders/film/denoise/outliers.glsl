// A pixel's light without what no other confirms: where it is many standard deviations brighter than the blocks of pixels
// around, and brighter than all but one of the eight around, it counts for as much as these allow, until its own samples
// are sure of more. A filter would make a disc of it, as wide as its windows. The film keeps its bits.
// Needs the streams lit, blocks.
#include "film/denoise/alike.glsl"
#include "film/denoise/unconfirmed.glsl"

uniform int side;  // of a block, pixels

const float DEVIATIONS = 6.0;  // light that one pixel in 37 has is within them (P. Chebyshev, 1867)

Lit element(ivec2 at) {
    Lit lit = fetch_lit(at);
    float luminance = dot(lit.rgb, LUMINANCE);
    if (!(lit.nearness > 0.0) || !(luminance > 0.0)) return lit;
    ivec2 last = textureSize(in_lit_0, 0) - 1, last_block = textureSize(in_blocks_0, 0) - 1;
    float brightest = 0.0, second = 0.0, count = 1e-20, sum = 0.0, squares = 0.0;
    for (int k = 0; k < 9; ++k) {
        ivec2 offset = ivec2(k % 3, k / 3) - 1, block = at / side + offset;
        if (block == clamp(block, ivec2(0), last_block)) {
            BlockMoments moments = fetch_blocks(block);
            count += moments.count;
            sum += moments.sum;
            squares += moments.squares;
        }
        ivec2 place = at + offset;
        if (k == 4 || place != clamp(place, ivec2(0), last)) continue;
        Lit neighbour = fetch_lit(place);
        float light = neighbour.nearness > 0.0 ? dot(neighbour.rgb, LUMINANCE) : 0.0;
        second = max(second, min(brightest, light));
        brightest = max(brightest, light);
    }
    float mean = sum / count, deviation = sqrt(max(squares / count - mean * mean, 0.0));
    float excess = luminance - max(second, mean + DEVIATIONS * deviation);
    if (excess <= 0.0) return lit;
    float kept = 1.0 - unconfirmed(excess, lit.variance) * excess / luminance;
    float variance = lit.variance < 0.0 ? lit.variance : kept * kept * lit.variance;
    return Lit(lit.normal, lit.nearness, kept * lit.rgb, with_surface(variance, surface_in(lit.variance)));
}
