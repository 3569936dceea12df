// Surfaces of the ray caster and of the layers.
#include "interface/geometry.glsl"
#include "interface/surface.glsl"

Surface surface_at(Ray ray, Hit hit) {
    Geometry at = geometry_at(ray, hit);
    vec3 normal = dot(at.shading, ray.direction) > 0.0 ? -at.shading : at.shading;
    return Surface(normal, material_color(at, hit, fetch_materials(at.material)));
}
