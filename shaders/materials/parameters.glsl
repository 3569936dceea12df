// A principled material at a point: its factors times its textures.
// Where channels part (KHR_materials_dispersion) an interaction's channel tells which: 0 all, 1, 2, 3 red, green, blue; 4
// more: it refracts for certain; 8: it reflects for certain, whatever the channel. The index is then that channel's.
#include "interface/interaction.glsl"
#ifdef HAVE_NESTED
#include "interface/medium.glsl"
#endif
#ifdef HAVE_TEXTURES
#include "interface/texture.glsl"
#endif

Principled principled_at(Interaction at) {
    int number = interaction_material(at);
    Principled material = fetch_principled(number);
    float layer = 1.0;
#ifdef HAVE_TEXTURES
    // A material's textures in a loop, so that looking one up is in the source once: compilers inline all of it.
    for (int k = 0; k < material.map_count; k++) {
        PrincipledMap map = fetch_principled_maps(number * MAPS_OF_MATERIAL + k);
        vec4 texel = texture_texel(map.texture, interaction_place(at), interaction_uv_1(at), map.color == 1);
        principled_textured(material, map.slots, texel, layer);
    }
#endif
#ifdef HAVE_IRIDESCENCE
    material.iridescence_thickness.x = mix(material.iridescence_thickness.x, material.iridescence_thickness.y, layer);
#endif
#ifdef HAVE_DISPERSION
    int channel = interaction_channel(at) & 3;
    if (channel > 0 && material.half_spread > 0.0) {
        material.ior = max(material.ior + float(channel - 2) * material.half_spread, 1.0);
    }
#endif
#ifdef HAVE_NESTED
#ifdef HAVE_DISPERSION
    material.ior /= medium_index(interaction_outside(at), channel);
#else
    material.ior /= medium_index(interaction_outside(at), 0);
#endif
#endif
    return material;
}
