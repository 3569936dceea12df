// Adds what a sample's camera ray tells of the surface that it hits to the pixel's feature buffers.
#include "interface/path.glsl"
#include "lib/features_hit.glsl"

int add_features(in Ray ray, in Hit hit, inout Features features) {
    Features sample_features = features_of_hit(ray, hit);
    add(features, sample_features, 1.0);
    features.triangle = sample_features.triangle;
    features.instance = sample_features.instance;
    features.count += 1.0;
    return int(features.count) < path_samples ? EXIT_AGAIN : EXIT_DONE;
}
