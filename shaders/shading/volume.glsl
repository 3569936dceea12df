// Absorption within volumes: Beer's law (KHR_materials_volume). A ray that hits the back of a surface has come through what
// that bounds.
#include "interface/geometry.glsl"
#include "interface/volume.glsl"

vec3 volume_transmittance(Ray ray, Hit hit) {
    Geometry at = geometry_at(ray, hit);
    Principled material = fetch_principled(at.material);
    bool is_inside = dot(at.normal, ray.direction) > 0.0 && material.thickness > 0.0;
    return is_inside ? exp(-material.attenuation * hit.t) : vec3(1.0);
}
