// A photon leaves a light (Purcell et al. 2003, section 2.1). The throughput of its path is its power.
// Of its dimensions 0 chooses the light, 2 and 3 the place, 4 and 5 the direction.
#include "interface/emitter.glsl"
#include "interface/path.glsl"
#include "interface/photon.glsl"
#include "interface/sampler.glsl"
#include "lib/far.glsl"
#include "lib/offset_origin.glsl"

int emit_photon(in Pixel pixel, out Ray ray, out Path path, out Photon photon) {
    vec3 normal, flux;
    float choose = sample_1d(pixel.at, photon_pass, 0);
    vec2 place = sample_2d(pixel.at, photon_pass, 2), way = sample_2d(pixel.at, photon_pass, 4);
    ray = Ray(vec3(0.0), FAR, vec3(0.0, 1.0, 0.0), 0);
    bool sent = light_emit(choose, place, way, ray.origin, normal, ray.direction, flux);
    path = Path(sent ? flux * photon_share : vec3(0.0), 0.0, 0, photon_pass);
    photon = Photon(vec3(0.0), 0, vec3(0.0), 0, vec3(0.0));
    // A few roundings of the place off its own light.
    float error = 1e-6 * max(max(abs(ray.origin.x), abs(ray.origin.y)), abs(ray.origin.z));
    ray.origin = offset_origin(ray.origin, normal, ray.direction, error);
    return any(greaterThan(path.throughput, vec3(0.0))) ? EXIT_RAY : EXIT_DONE;
}
