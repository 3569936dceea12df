// The light of a lattice's points, of pixels whose variance is known. Needs the stream lit.
#include "film/denoise/pooled.glsl"

Pooled element(ivec2 at) {
    return pooled(at, 1.0);
}
