// Adds the surface that a sample's camera ray hits to the pixel's feature buffers, and where surfaces are blended one by
// one, by what it covers of the light behind it: the ray then goes on to the next one (the over operator: T. Porter and
// T. Duff, "Compositing Digital Images", 1984). The sums are what many rays that pass at random have in the mean. A
// sample's share so far is the fraction of the count; the ray that the camera sees along, which distances are of, is
// found again by its number.
#include "interface/geometry.glsl"
#include "interface/path.glsl"
#include "lib/features_hit.glsl"
#include "lib/first_ray.glsl"
#include "lib/offset_origin.glsl"

const float LEAST_BEHIND = 0.02;  // of a sample, which the last surface has too: behind it hardly any light is seen

int add_layer(in Pixel pixel, inout Ray ray, in Hit hit, inout Features features) {
    float before = floor(features.count), left = before + 1.0 - features.count;
    Ray camera = ray;
    if (left < 1.0) {
        camera = first_ray(pixel.at, int(before));
        hit.t += distance(camera.origin, ray.origin);
    }
    float opacity = opacity_layered == 1 && hit.triangle >= 0 ? opacity_at(hit) : 1.0;
    bool last = left * (1.0 - opacity) <= LEAST_BEHIND;
    float share = last ? left : left * opacity;
    Features layer = features_of_hit(camera, hit);
    add(features, layer, share);
    if (left == 1.0) {
        features.triangle = layer.triangle;
        features.instance = layer.instance;
    }
    features.count = last ? before + 1.0 : features.count + share;
    if (!last) {
        Geometry at = geometry_at(camera, hit);
        ray.origin = offset_origin(at.position, at.normal, ray.direction, at.error);
        return EXIT_BEHIND;
    }
    return int(features.count) < path_samples ? EXIT_AGAIN : EXIT_DONE;
}
