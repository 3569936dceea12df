// Nested media along a ray.
#include "interface/geometry.glsl"
#include "interface/media.glsl"
#include "lib/offset_origin.glsl"

// Transmittance of a ray up to its hit, and whether the surface there is void, as a winning medium is on both of its
// sides; the ray then continues behind it. Volumes without priority are recognised by their back faces.
bool cross_media(inout Ray ray, Hit hit, inout int inside, out vec3 transmittance) {
    Geometry at = geometry_at(ray, hit);
    Principled own = fetch_principled(at.material);
    bool front = dot(at.normal, ray.direction) < 0.0;
    // A ray that starts within a volume detects it at its exit.
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
