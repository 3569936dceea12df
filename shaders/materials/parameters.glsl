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
    int material = interaction_material(at);
    Principled own = fetch_principled(material);
    float layer = 1.0;
#ifdef HAVE_TEXTURES
    // A material's textures in a loop, so that looking one up is in the source once: compilers inline all of it.
    for (int k = 0; k < own.map_count; k++) {
        PrincipledMap map = fetch_principled_maps(material * MAPS_OF_MATERIAL + k);
        vec4 texel = texture_texel(map.texture, interaction_place(at), interaction_uv_1(at), map.color == 1);
        principled_textured(own, map.slots, texel, layer);
    }
#endif
#ifdef HAVE_IRIDESCENCE
    own.iridescence_thickness.x = mix(own.iridescence_thickness.x, own.iridescence_thickness.y, layer);
#endif
#ifdef HAVE_DISPERSION
    int channel = interaction_channel(at) & 3;
    if (channel > 0 && own.half_spread > 0.0) own.ior = max(own.ior + float(channel - 2) * own.half_spread, 1.0);
#endif
#ifdef HAVE_NESTED
#ifdef HAVE_DISPERSION
    own.ior /= medium_index(interaction_outside(at), channel);
#else
    own.ior /= medium_index(interaction_outside(at), 0);
#endif
#endif
    return own;
}
