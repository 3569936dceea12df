// The light of a lattice's points, of pixels of one sample. Needs the stream lit.
#include "film/denoise/pooled.glsl"
#include "film/denoise/noise_around.glsl"

Pooled element(ivec2 at) {
    return pooled(at, noise_around(2 * at));
}
