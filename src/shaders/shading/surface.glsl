// Surfaces of the ray caster and of the layers.
#include "interface/geometry.glsl"
#include "interface/surface.glsl"
#ifdef HAVE_SECOND_UV
#include "interface/detail.glsl"
#endif

Surface surface_at(Ray ray, Hit hit) {
    Geometry at = geometry_at(ray, hit);
#ifdef HAVE_SECOND_UV
    detail_here = detail_at(hit);
#endif
    vec3 normal = dot(at.shading, ray.direction) > 0.0 ? -at.shading : at.shading;
    return Surface(normal, material_color(at, hit, fetch_materials(at.material)));
}
