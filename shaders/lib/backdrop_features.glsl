// Adds what a camera ray that leaves the scene sees: the environment; or a backdrop, which has no noise; or the floor before
// it, a surface of the backdrop's colour, by which a denoiser tells its shadows from that, of the instance -1.
#ifdef HAVE_BACKDROP
#include "interface/background.glsl"
#ifdef HAVE_FLOOR
#include "interface/floor.glsl"

bool sees_floor(Ray ray, out float distance) {
    return floor_meets(ray, distance) && floor_solid == 1;
}
#else
bool sees_floor(Ray ray, out float distance) {
    distance = 0.0;
    return false;
}
#endif

// Adds the features of a ray that hits nothing.
void add_backdrop(inout Features features, Ray ray) {
    vec3 behind = background_radiance(ray.direction);
    float distance;
    if (sees_floor(ray, distance)) {
        features.normal = vec3(0.0, 1.0, 0.0);
        features.albedo = behind;
        features.depth = distance;
        features.hits = features.alike = 1.0;
        features.instance = -1;
    } else {
        features.emission = behind;
    }
}
#else
#include "interface/environment.glsl"

void add_backdrop(inout Features features, Ray ray) {
    features.emission = environment_radiance(ray.direction);
}
#endif
