// What steers the filter: normal and nearness of a pixel, as means of its samples. On a plane the nearness, 1 / depth
// along the view's axis, is linear in the picture.
#include "film/denoise/view.glsl"
#include "film/denoise/alike.glsl"

Guide guide_of(Features features, ivec2 at) {
    Guide guide;
    guide.normal = features.normal / max(features.count, 1.0);
    guide.nearness = features.hits > 0.0 ? features.hits * length(view_through(at)) / features.depth : 0.0;
    return guide;
}

// The lowest bit is set where the pixel's hits are of several surfaces.
uint surface_of(Features features) {
    return (uint(features.surface) << 1u) | (features.alike < features.hits ? 1u : 0u);
}
