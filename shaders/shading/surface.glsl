// Surfaces of the ray caster and of the layers; of a texture's mip levels the nearest one.
#include "interface/geometry.glsl"
#include "interface/surface.glsl"
#include "lib/second_place.glsl"

Surface surface_at(Ray ray, Hit hit) {
    Geometry at = geometry_at(ray, hit);
    find_second_place(hit);
    at.uv.z += surface_level(ray, hit.t);
    vec3 normal = dot(at.shading, ray.direction) > 0.0 ? -at.shading : at.shading;
    return Surface(normal, material_color(at, hit, fetch_materials(at.material)), 2 * at.material + surface_metal(at));
}
