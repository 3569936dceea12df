// What a camera ray tells of the surface that it hits; of one that leaves the scene, what it sees there. Light that is seen
// itself is told apart: it has no noise.
#include "interface/environment.glsl"
#include "interface/surface.glsl"
#include "lib/blind_ray.glsl"
#include "lib/backdrop_features.glsl"

const Features NO_FEATURES = Features(vec3(0.0), 0.0, vec3(0.0), 0.0, vec3(0.0), 0.0, -1, 0, 0, 0.0);

// Which surface a hit is of, as a hash of 15 bits; 0 is a floor's before a backdrop.
int surface_hash(Hit hit, Surface surface) {
    uint number = uint(hit.instance + 1) * 2654435769u + uint(surface.material + 1) * 2246822519u;
    return max(1, int(((number ^ (number >> 15u)) * 2654435769u) >> 17u));
}

// The features of one camera ray.
Features features_of_hit(Ray ray, Hit hit) {
    Features features = NO_FEATURES;
    features.count = 1.0;
    if (hit.triangle >= 0) {
        Surface surface = surface_at(ray, hit);
        features.normal = surface.normal;
        features.albedo = surface.albedo;
        features.depth = hit.t;
        features.emission = emission_seen(ray, hit);
        features.surface = surface_hash(hit, surface);
        features.hits = features.alike = 1.0;
        features.triangle = hit.triangle;
        features.instance = hit.instance;
        return features;
    }
    if (sees_nothing(ray)) return features;
    add_backdrop(features, ray);
    return features;
}

// Of all samples' hits, those of the first one's surface are alike.
void add(inout Features sum, Features features, float weight) {
    if (sum.hits == 0.0) sum.surface = features.surface;
    sum.normal += weight * features.normal;
    sum.albedo += weight * features.albedo;
    sum.depth += weight * features.depth;
    sum.emission += weight * features.emission;
    sum.hits += weight * features.hits;
    sum.alike += features.surface == sum.surface ? weight * features.alike : 0.0;
}
