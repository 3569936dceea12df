// Adds what a camera ray that leaves the scene sees: a backdrop, which has no noise, or the floor before it, a surface of
// the backdrop's colour, by which a denoiser tells its shadows from that, of the instance -1.
#include "interface/background.glsl"
#ifdef HAVE_FLOOR
#include "interface/floor.glsl"
#endif

void add_backdrop(inout Features features, Ray ray) {
    vec3 behind = background_radiance(ray.direction);
    float distance = 0.0;
#ifdef HAVE_FLOOR
    bool solid = floor_meets(ray, distance) && floor_solid == 1;
#else
    const bool solid = false;
#endif
    if (solid) {
        features.normal = vec3(0.0, 1.0, 0.0);
        features.albedo = behind;
        features.depth = distance;
        features.hits = features.alike = 1.0;
        features.instance = -1;
    } else {
        features.emission = behind;
    }
}
