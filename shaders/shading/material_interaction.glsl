// What a path meets at a hit.
#include "interface/bsdf.glsl"
#include "interface/geometry.glsl"
#include "interface/material.glsl"
#include "lib/second_place.glsl"
#ifdef HAVE_DETAIL
#include "interface/detail.glsl"
#endif

Interaction interaction_at(Ray ray, Hit hit, float width, out vec3 emission, out float light_pdf) {
    Geometry at = geometry_at(ray, hit);
    at.uv.z += log2(max(width, 1e-37));
#ifdef HAVE_DETAIL
    detail_here = detail_at(hit);
#endif
    Material material = fetch_materials(at.material);
    bool front = dot(at.normal, ray.direction) < 0.0;
    bool shines = front;
#ifdef HAVE_BOTH_SIDES
    shines = shines || material.sides == 2;
#endif
    emission = shines ? material_emission(at, hit, material) : vec3(0.0);
    light_pdf = shines ? material.light_density : 0.0;
#ifdef HAVE_SHINING
    light_pdf *= shining_share(hit);
#endif
    Interaction found;
    found.wo = -ray.direction;
    found.position = at.position;
    found.error = at.error;
    found.normal = at.normal;
    found.albedo = material_color(at, hit, material);
    found.kind = material.kind;
#ifdef HAVE_UNLIT
    if (material.kind == BSDF_PRINCIPLED && fetch_principled(at.material).unlit == 1) emission = found.albedo;
#endif
#ifdef HAVE_PARAMETERS
    found.parameter = material.parameter;
    found.specular = material.specular;
    found.reflectivity = material.reflectivity;
#endif
    found.shading = at.shading;
    set_interaction_material(found, at.material);
    bool single = bsdf_single(found);
    // At the silhouettes of coarse meshes the shading normal can face away from a ray that sees the surface. What
    // scatters into all directions would be black there: the geometric normal takes its place. Mirrors and glass keep
    // theirs, as they do in Mitsuba.
    bool away = dot(at.shading, ray.direction) * dot(at.normal, ray.direction) <= 0.0;
    if (away && !single) found.shading = at.normal;
#ifdef HAVE_SMOOTH
    // What scatters and is not crossed begins its rays above the facet; such a position's error is kept below zero.
    bool lifts = !away && !single && geometry_lift != vec3(0.0);
#ifdef HAVE_BELOW
    lifts = lifts && !principled_passes(at.material);
#endif
    if (lifts) {
        found.position += geometry_lift;
        found.error = -found.error;
    }
#endif
#ifdef HAVE_TEXTURES
    found.place = at.uv;
#endif
#ifdef HAVE_SECOND_UV
    set_interaction_uv_1(found, second_place(at));
#endif
#ifdef HAVE_TANGENTS
    found.place = interaction_packed(at.uv, found.shading, detail_here.tangent);
#endif
#ifdef HAVE_CLASSIC
    if (material.kind == BSDF_CLASSIC) emission += classic_shining(found);
#endif
    return found;
}
