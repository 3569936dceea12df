// A photon leaves a light (Purcell et al. 2003, section 2.1). The throughput of its path is its power.
// Of its dimensions 2 and 3 are the place, 4 and 5 the direction. The numbers that choose lights are evenly spaced from
// one start, dimension 0, on: a light's photons are then neighbours, too, and have the best of places and directions.
#include "interface/emitter.glsl"
#include "interface/path.glsl"
#include "interface/photon.glsl"
#include "interface/sampler.glsl"
#include "lib/far.glsl"
#include "lib/offset_origin.glsl"
#include "lib/path_moment.glsl"

int emit_photon(in Pixel pixel, out Ray ray, out Path path) {
    vec3 normal, flux;
    int number = photon_number(pixel.at);
    float choose = (float(number) + sample_1d(photon_pixel(0), 0, 0)) * photon_share;
    vec2 place = sample_2d(photon_pixel(number), photon_sample(number), 2);
    vec2 direction_u = sample_2d(photon_pixel(number), photon_sample(number), 4);
    bool aimed = photon_kinds == PHOTON_CAUSTIC;
    int time = enter_time(photon_pixel(number), photon_sample(number));
    ray = Ray(vec3(0.0), FAR, vec3(0.0, 1.0, 0.0), time);
    bool sent = light_emit(choose, place, direction_u, aimed, ray.origin, normal, ray.direction, flux);
    path = Path(sent ? flux * photon_share : vec3(0.0), 0.0, 0, photon_pass, vec2(0.0));
    // A few roundings of the place off its own light.
    float error = 1e-6 * max(max(abs(ray.origin.x), abs(ray.origin.y)), abs(ray.origin.z));
    ray.origin = offset_origin(ray.origin, normal, ray.direction, error);
    return EXIT_DONE;
}
