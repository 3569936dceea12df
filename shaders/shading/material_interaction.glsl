// What a path meets at a hit.
#include "interface/bsdf.glsl"
#include "interface/geometry.glsl"
#include "interface/material.glsl"
#include "lib/tangents_here.glsl"
#include "lib/second_place.glsl"
#include "lib/smooth_lift.glsl"

Interaction interaction_at(Ray ray, Hit hit, float width, out vec3 emission, out float light_pdf) {
    Geometry at = geometry_at(ray, hit);
    at.uv.z += log2(max(width, 1e-37));
    find_tangents(hit);
    Material material = fetch_materials(at.material);
    bool is_emissive = material_shines(material, dot(at.normal, ray.direction) < 0.0);
    emission = is_emissive ? material_emission(at, hit, material) : vec3(0.0);
    light_pdf = is_emissive ? material.light_density * emission_share(hit) : 0.0;
    Interaction interaction;
    interaction.wo = -ray.direction;
    interaction.position = at.position;
    interaction.error = at.error;
    interaction.normal = at.normal;
    interaction.albedo = material_color(at, hit, material);
    interaction.kind = material.kind;
    if (material_unlit(material)) emission = interaction.albedo;
    set_interaction_parameters(interaction, material.parameter, material.specular, material.reflectivity);
    interaction.shading = at.shading;
    set_interaction_material(interaction, at.material);
    bool is_specular = bsdf_single(interaction);
    // At the silhouettes of coarse meshes the shading normal can face away from a ray that sees the surface. What
    // scatters into all directions would be black there: the geometric normal takes its place. Mirrors and glass keep
    // theirs, as they do in Mitsuba.
    bool faces_away = dot(at.shading, ray.direction) * dot(at.normal, ray.direction) <= 0.0;
    if (faces_away && !is_specular) interaction.shading = at.normal;
    // What scatters and is not crossed begins its rays above the facet.
    if (!faces_away && !is_specular && !material_passes(at.material)) take_lift(interaction.position, interaction.error);
    set_interaction_place(interaction, at.uv, current_tangent());
    set_interaction_uv_1(interaction, second_place(at));
    add_own_emission(interaction, emission);
    return interaction;
}
