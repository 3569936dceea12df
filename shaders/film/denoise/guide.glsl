// The guide of every pixel. Needs the stream features.
#include "film/denoise/guide_of.glsl"

Guide element(ivec2 at) {
    return guide_of(fetch_features(at), at);
}
