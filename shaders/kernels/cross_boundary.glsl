// What media take of the light that comes along a ray, where volumes are nested, and whether the surface there is none,
// since a medium that wins is on both of its sides: the ray then goes on behind it. No shadow ray comes through these,
// so that light behind them is not sampled in another way. Of volumes without a rank, what their backs say.
#include "interface/geometry.glsl"
#include "interface/medium.glsl"
#include "lib/offset_origin.glsl"

int cross_boundary(inout Ray ray, in Hit hit, inout Path path, inout Media media) {
    if (hit.triangle < 0) return EXIT_DONE;
    Geometry geometry = geometry_at(ray, hit);
    Principled material = fetch_principled(geometry.material);
    int medium = medium_of(geometry.material);
    bool enters = dot(geometry.normal, ray.direction) < 0.0;
    // A ray that began within a volume learns of it where it leaves.
    if (medium > 0 && !enters && !media_hold(media.inside, medium)) {
        media.inside = media_with(media.inside, medium);
    }
    vec3 transmittance = medium_transmittance(media_top(media.inside), hit.t);
    if (medium == 0 && !enters && material.thickness > 0.0) transmittance *= exp(-material.attenuation * hit.t);
    path.throughput *= transmittance;
    int other_side = enters ? media.inside : media_without(media.inside, medium);
    bool passes = medium > 0 && media_top(other_side) >= medium;
    if (!passes) return EXIT_DONE;
    media.inside = enters ? media_with(media.inside, medium) : other_side;
    ray.origin = offset_origin(geometry.position, geometry.normal, ray.direction, geometry.error);
    path.pdf = path.pdf == 0.0 ? 0.0 : -1.0;
    return EXIT_PASS;
}
