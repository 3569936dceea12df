// Whether a texture says that a surface is metal there. A metal's light is of its reflection, a dielectric's of its colour:
// divided by the albedo they are not alike.
#include "interface/texture.glsl"
#include "lib/second_place.glsl"

int surface_metal(Geometry at) {
    int metal = 0;
    Principled material = fetch_principled(at.material);
    for (int k = 0; k < material.map_count; k++) {
        PrincipledMap map = fetch_principled_maps(at.material * MAPS_OF_MATERIAL + k);
        if ((map.slots & MAP_METALLIC_ROUGHNESS) == 0) continue;
        metal = material.metallic * texture_texel(map.texture, at.uv, second_place(at), false).b > 0.5 ? 1 : 0;
    }
    return metal;
}
