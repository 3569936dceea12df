// What the features of a pixel's camera rays tell, as means: the surface that steers the filter, and the parts of its light:
// what is seen of lights themselves, which has no noise, and what surfaces reflect. The latter is divided by their albedo
// before the filter and multiplied behind it, so that textures and edges stay sharp; of dark surfaces, whose highlights are
// not their albedo's, by less. On a plane the nearness, 1 / depth along the view's axis, is linear in the picture.
#include "film/denoise/alike.glsl"

const float LEAST_REFLECTANCE = 0.05;

Guide guide_of(Features features, ivec2 at) {
    float nearness = features.hits > 0.0 ? features.hits * length(view_through(at)) / features.depth : 0.0;
    return Guide(features.normal / max(features.count, 1.0), nearness);
}

// The lowest bit is set where the pixel's hits are of several surfaces.
uint surface_of(Features features) {
    return (uint(features.surface) << 1u) | (features.alike < features.hits ? 1u : 0u);
}

vec3 reflectance(Features features) {
    return max(features.albedo, LEAST_REFLECTANCE * features.hits) / max(features.count, 1.0);
}

vec3 seen_light(Features features) {
    return features.emission / max(features.count, 1.0);
}
