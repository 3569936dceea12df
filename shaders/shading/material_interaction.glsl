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
    Interaction interaction;
    interaction.wo = -ray.direction;
    interaction.position = at.position;
    interaction.error = at.error;
    interaction.normal = at.normal;
    interaction.albedo = material_color(at, hit, material);
    interaction.kind = material.kind;
#ifdef HAVE_UNLIT
    if (material.kind == BSDF_PRINCIPLED && fetch_principled(at.material).unlit == 1) emission = interaction.albedo;
#endif
#ifdef HAVE_PARAMETERS
    interaction.parameter = material.parameter;
    interaction.specular = material.specular;
    interaction.reflectivity = material.reflectivity;
#endif
    interaction.shading = at.shading;
    set_interaction_material(interaction, at.material);
    bool single = bsdf_single(interaction);
    // At the silhouettes of coarse meshes the shading normal can face away from a ray that sees the surface. What
    // scatters into all directions would be black there: the geometric normal takes its place. Mirrors and glass keep
    // theirs, as they do in Mitsuba.
    bool away = dot(at.shading, ray.direction) * dot(at.normal, ray.direction) <= 0.0;
    if (away && !single) interaction.shading = at.normal;
#ifdef HAVE_SMOOTH
    // What scatters and is not crossed begins its rays above the facet; such a position's error is kept below zero.
    bool lifts = !away && !single && geometry_lift != vec3(0.0);
#ifdef HAVE_BELOW
    lifts = lifts && !principled_passes(at.material);
#endif
    if (lifts) {
        interaction.position += geometry_lift;
        interaction.error = -interaction.error;
    }
#endif
#ifdef HAVE_TEXTURES
    interaction.place = at.uv;
#endif
#ifdef HAVE_SECOND_UV
    set_interaction_uv_1(interaction, second_place(at));
#endif
#ifdef HAVE_TANGENTS
    interaction.place = interaction_packed(at.uv, interaction.shading, detail_here.tangent);
#endif
#ifdef HAVE_CLASSIC
    if (material.kind == BSDF_CLASSIC) emission += classic_shining(interaction);
#endif
    return interaction;
}
