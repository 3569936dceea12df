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

const float MIN_BEHIND = 0.02;  // of a sample, which the last surface has too: behind it hardly any light is seen

int add_layer(in Pixel pixel, inout Ray ray, in Hit hit, inout Features features) {
    float complete = floor(features.count), remaining = complete + 1.0 - features.count;
    Ray camera = ray;
    if (remaining < 1.0) {
        camera = first_ray(pixel.at, int(complete));
        hit.t += distance(camera.origin, ray.origin);
    }
    float opacity = opacity_layered == 1 && hit.triangle >= 0 ? opacity_at(hit) : 1.0;
    bool is_last = remaining * (1.0 - opacity) <= MIN_BEHIND;
    float weight = is_last ? remaining : remaining * opacity;
    Features layer = features_of_hit(camera, hit);
    add(features, layer, weight);
    if (remaining == 1.0) {
        features.triangle = layer.triangle;
        features.instance = layer.instance;
    }
    features.count = is_last ? complete + 1.0 : features.count + weight;
    if (!is_last) {
        Geometry geometry = geometry_at(camera, hit);
        ray.origin = offset_origin(geometry.position, geometry.normal, ray.direction, geometry.error);
        return EXIT_BEHIND;
    }
    return int(features.count) < path_samples ? EXIT_AGAIN : EXIT_DONE;
}
