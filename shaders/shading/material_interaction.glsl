// What a path meets at a hit.
#include "interface/bsdf.glsl"
#include "interface/geometry.glsl"
#include "interface/material.glsl"

Interaction interaction_at(Ray ray, Hit hit, float width, out vec3 emission, out float light_pdf) {
    Geometry at = geometry_at(ray, hit);
    at.uv.z += log2(max(width, 1e-37));
    Material material = fetch_materials(at.material);
    bool front = dot(at.normal, ray.direction) < 0.0;
    emission = front ? material_emission(at, material) : vec3(0.0);
    light_pdf = front ? material.light_density : 0.0;
    Interaction found;
    found.wo = -ray.direction;
    found.position = at.position;
    found.error = at.error;
    found.normal = at.normal;
    found.albedo = material_color(at, material);
    found.kind = material.kind;
    found.parameter = material.parameter;
    found.specular = material.specular;
    found.reflectivity = material.reflectivity;
    found.shading = at.shading;
    // At the silhouettes of coarse meshes the shading normal can face away from a ray that sees the surface. What
    // scatters into all directions would be black there: the geometric normal takes its place. Mirrors and glass keep
    // theirs, as they do in Mitsuba.
    bool away = dot(at.shading, ray.direction) * dot(at.normal, ray.direction) <= 0.0;
    if (away && !bsdf_delta(found)) found.shading = at.normal;
    return found;
}
