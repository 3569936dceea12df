// What nested volumes do to a ray.
#include "interface/geometry.glsl"
#include "interface/media.glsl"
#include "lib/offset_origin.glsl"

// What is left of light on a ray to its hit, and whether the surface there is none, since a medium that wins is on both of
// its sides; the ray then begins behind it. Of volumes without a rank, what their backs say.
bool cross_media(inout Ray ray, Hit hit, inout int inside, out vec3 transmittance) {
    Geometry at = geometry_at(ray, hit);
    Principled own = fetch_principled(at.material);
    bool front = dot(at.normal, ray.direction) < 0.0;
    // A ray that began within a volume learns of it where it leaves.
    if (own.medium > 0 && !front && !media_hold(inside, own.medium)) inside = media_with(inside, own.medium);
    transmittance = medium_transmittance(media_top(inside), hit.t);
    if (own.medium == 0 && !front && own.thickness > 0.0) transmittance *= exp(-own.attenuation * hit.t);
    int rest = front ? inside : media_without(inside, own.medium);
    bool passes = own.medium > 0 && media_top(rest) >= own.medium;
    if (passes) {
        inside = front ? media_with(inside, own.medium) : rest;
        ray.origin = offset_origin(at.position, at.normal, ray.direction, at.error);
    }
    return passes;
}
