// Adds a finished sample's layers to the pixel's sums, as finish_path adds their sum to the film: scaled as one where it
// is clamped, and dropped as one where it is broken.
#include "interface/path.glsl"

const uint SPLIT_BROKEN = 0x71800000u;  // the bits of 2^100, see film/accumulate.glsl

// Adds the layers, unless their sum is no number or too large, and counts the sample.
void add_light_split(LightSplit split, inout LightSums sums) {
    uvec3 magnitude = floatBitsToUint(split.whole) & 0x7FFFFFFFu;
    float largest = max(split.whole.x, max(split.whole.y, split.whole.z));
    float scale = path_clamp > 0.0 && largest > path_clamp ? path_clamp / largest : 1.0;
    if (!any(greaterThanEqual(magnitude, uvec3(SPLIT_BROKEN)))) {
        sums.emission += split.emission * scale;
        sums.direct_diffuse += split.direct_diffuse * scale;
        sums.direct_glossy += split.direct_glossy * scale;
        sums.direct_transmission += split.direct_transmission * scale;
        sums.indirect_diffuse += split.indirect_diffuse * scale;
        sums.indirect_glossy += split.indirect_glossy * scale;
        sums.indirect_transmission += split.indirect_transmission * scale;
    }
    sums.count += 1.0;
}
