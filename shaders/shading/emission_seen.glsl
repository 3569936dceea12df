// What a surface emits towards a camera, as paths find it there (shading/material_interaction.glsl).
#include "interface/geometry.glsl"
#include "interface/surface.glsl"

vec3 emission_seen(Ray ray, Hit hit) {
    Geometry at = geometry_at(ray, hit);
    Material material = fetch_materials(at.material);
    if (material_unlit(material)) return material_color(at, hit, material);
    return material_shines(material, dot(at.normal, ray.direction) < 0.0) ? material_emission(at, hit, material) : vec3(0.0);
}
