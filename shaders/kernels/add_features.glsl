// Adds the surface that a sample's camera ray hits to the pixel's feature buffers; zeros where it leaves the scene. Light
// that is seen itself is told apart: it has no noise.
#include "interface/environment.glsl"
#include "interface/path.glsl"
#include "interface/surface.glsl"
#include "lib/features_hit.glsl"
#ifdef HAVE_BLIND
#include "lib/blind_ray.glsl"
#endif
#ifdef HAVE_BACKDROP
#include "lib/backdrop_features.glsl"
#endif

int add_features(in Ray ray, in Hit hit, inout Features features) {
#ifdef HAVE_BACKDROP
    bool floor_seen = false;
#endif
    if (hit.triangle >= 0) {
        Surface surface = surface_at(ray, hit);
        features.normal += surface.normal;
        features.albedo += surface.albedo;
        features.depth += hit.t;
        count_hit(features, surface_hash(hit, surface));
        features.emission += emission_seen(ray, hit);
    } else {
#ifdef HAVE_BLIND
        if (!sees_nothing(ray))
#endif
#ifdef HAVE_BACKDROP
        floor_seen = add_backdrop(features, ray);
#else
        features.emission += environment_radiance(ray.direction);
#endif
    }
    features.triangle = hit.triangle;
    features.instance = hit.instance;
#ifdef HAVE_BACKDROP
    if (floor_seen) features.instance = -1;
#endif
    features.count += 1.0;
    return int(features.count) < path_samples ? EXIT_AGAIN : EXIT_DONE;
}
