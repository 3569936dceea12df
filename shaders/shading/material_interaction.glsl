// What a path meets at a hit.
#include "interface/bsdf.glsl"
#include "interface/geometry.glsl"
#include "interface/material.glsl"
#ifdef HAVE_SECOND_UV
#include "interface/detail.glsl"
#endif
#ifdef HAVE_TANGENTS
#include "interface/detail.glsl"
#include "lib/hemisphere.glsl"
#endif

Interaction interaction_at(Ray ray, Hit hit, float width, out vec3 emission, out float light_pdf) {
    Geometry at = geometry_at(ray, hit);
    at.uv.z += log2(max(width, 1e-37));
    Material material = fetch_materials(at.material);
    bool front = dot(at.normal, ray.direction) < 0.0;
    emission = front ? material_emission(at, hit, material) : vec3(0.0);
    light_pdf = front ? material.light_density : 0.0;
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
#ifdef HAVE_PRINCIPLED
    found.kind += 8 * at.material;
    bool single = material.kind != BSDF_PRINCIPLED && bsdf_delta(found);
#else
    bool single = bsdf_delta(found);
#endif
    // At the silhouettes of coarse meshes the shading normal can face away from a ray that sees the surface. What
    // scatters into all directions would be black there: the geometric normal takes its place. Mirrors and glass keep
    // theirs, as they do in Mitsuba.
    bool away = dot(at.shading, ray.direction) * dot(at.normal, ray.direction) <= 0.0;
    if (away && !single) found.shading = at.normal;
#ifdef HAVE_TEXTURES
    found.place = at.uv;
#endif
#ifdef HAVE_SECOND_UV
    found.uv_1 = detail_at(hit).uv_1 + vec3(0.0, 0.0, at.uv.z);
#endif
#ifdef HAVE_TANGENTS
    vec3 right, up;
    vec4 tangent = detail_at(hit).tangent;
    frame_around(found.shading, right, up);
    vec2 along = vec2(dot(tangent.xyz, right), dot(tangent.xyz, up));
    found.turn = dot(along, along) > 0.0 ? atan(along.y, along.x) : 0.0;
    if (tangent.w < 0.0) found.turn += 16.0;
#endif
    return found;
}
