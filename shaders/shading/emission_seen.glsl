// What a surface emits towards a camera, as paths find it there (shading/material_interaction.glsl).
#include "interface/geometry.glsl"
#include "interface/surface.glsl"

vec3 emission_seen(Ray ray, Hit hit) {
    Geometry at = geometry_at(ray, hit);
    Material material = fetch_materials(at.material);
#ifdef HAVE_UNLIT
    if (material.kind == KIND_PRINCIPLED && fetch_principled(at.material).unlit == 1) {
        return material_color(at, hit, material);
    }
#endif
    return material_shines(material, dot(at.normal, ray.direction) < 0.0) ? material_emission(at, hit, material) : vec3(0.0);
}
