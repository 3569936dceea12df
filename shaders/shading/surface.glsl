// Surfaces of the ray caster and of the layers; of a texture's mip levels the nearest one.
#ifdef HAVE_MIPMAPS
#include "interface/camera.glsl"
#endif
#include "interface/geometry.glsl"
#include "interface/surface.glsl"
#include "lib/second_place.glsl"

Surface surface_at(Ray ray, Hit hit) {
    Geometry at = geometry_at(ray, hit);
    find_second_place(hit);
#ifdef HAVE_MIPMAPS
#ifdef HAVE_PROJECTED
    at.uv.z += 0.5 + log2(max(camera_pixel(ray.origin) + camera_spread(ray.direction) * hit.t, 1e-37));
#else
    at.uv.z += 0.5 + log2(max(camera_spread(ray.direction) * hit.t, 1e-37));
#endif
#endif
    vec3 normal = dot(at.shading, ray.direction) > 0.0 ? -at.shading : at.shading;
    int metal = 0;
#ifdef HAVE_METAL_MAP
    // A metal's light is of its reflection, a dielectric's of its colour: divided by the albedo they are not alike.
    Principled material = fetch_principled(at.material);
    for (int k = 0; k < material.map_count; k++) {
        PrincipledMap map = fetch_principled_maps(at.material * MAPS_OF_MATERIAL + k);
        if ((map.slots & MAP_METALLIC_ROUGHNESS) == 0) continue;
        metal = material.metallic * texture_texel(map.texture, at.uv, second_place(at), false).b > 0.5 ? 1 : 0;
    }
#endif
    return Surface(normal, material_color(at, hit, fetch_materials(at.material)), 2 * at.material + metal);
}
