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
        vec3 place = interaction_place(at);
#ifdef HAVE_SECOND_UV
        if ((fetch_textures(map.texture).flags & TEXTURE_SECOND) != 0) place = interaction_uv_1(at);
#endif
        vec4 texel = texture_texel(map.texture, place, map.color == 1);
#ifdef HAVE_METALLIC_ROUGHNESS_TEXTURE
        if ((map.slots & MAP_METALLIC_ROUGHNESS) != 0) {
            own.roughness *= texel.g;
            own.metallic *= texel.b;
        }
#endif
#ifdef HAVE_SPECULAR_FACTOR_TEXTURE
        if ((map.slots & MAP_SPECULAR_FACTOR) != 0) own.specular_factor *= texel.a;
#endif
#ifdef HAVE_SPECULAR_COLOR_TEXTURE
        if ((map.slots & MAP_SPECULAR_COLOR) != 0) own.specular_color *= texel.rgb;
#endif
#ifdef HAVE_TRANSMISSION_TEXTURE
        if ((map.slots & MAP_TRANSMISSION) != 0) own.transmission *= texel.r;
#endif
#ifdef HAVE_ANISOTROPY_TEXTURE
        if ((map.slots & MAP_ANISOTROPY) != 0) {
            vec2 along = texel.xy * 2.0 - 1.0, axis = own.anisotropy_axis;
            own.anisotropy_axis = vec2(along.x * axis.x - along.y * axis.y, along.x * axis.y + along.y * axis.x);
            own.anisotropy *= texel.b;
        }
#endif
#ifdef HAVE_CLEARCOAT_TEXTURE
        if ((map.slots & MAP_CLEARCOAT) != 0) own.clearcoat *= texel.r;
#endif
#ifdef HAVE_CLEARCOAT_ROUGHNESS_TEXTURE
        if ((map.slots & MAP_CLEARCOAT_ROUGHNESS) != 0) own.clearcoat_roughness *= texel.g;
#endif
#ifdef HAVE_IRIDESCENCE_TEXTURE
        if ((map.slots & MAP_IRIDESCENCE) != 0) own.iridescence *= texel.r;
#endif
#ifdef HAVE_IRIDESCENCE_THICKNESS_TEXTURE
        if ((map.slots & MAP_IRIDESCENCE_THICKNESS) != 0) layer = texel.g;
#endif
#ifdef HAVE_SHEEN_COLOR_TEXTURE
        if ((map.slots & MAP_SHEEN_COLOR) != 0) own.sheen_color *= texel.rgb;
#endif
#ifdef HAVE_SHEEN_ROUGHNESS_TEXTURE
        if ((map.slots & MAP_SHEEN_ROUGHNESS) != 0) own.sheen_roughness *= texel.a;
#endif
#ifdef HAVE_DIFFUSE_TRANSMISSION_TEXTURE
        if ((map.slots & MAP_DIFFUSE_TRANSMISSION) != 0) own.diffuse_transmission *= texel.a;
#endif
#ifdef HAVE_DIFFUSE_TRANSMISSION_COLOR_TEXTURE
        if ((map.slots & MAP_DIFFUSE_TRANSMISSION_COLOR) != 0) own.diffuse_transmission_color *= texel.rgb;
#endif
        vec3 mapped = texel.xyz * 2.0 - 1.0;
#ifdef HAVE_NORMAL_TEXTURE
        if ((map.slots & MAP_NORMAL) != 0) own.normal = vec3(mapped.xy * own.normal_scale, max(mapped.z, 1e-3));
#endif
#ifdef HAVE_CLEARCOAT_NORMAL_TEXTURE
        if ((map.slots & MAP_CLEARCOAT_NORMAL) != 0) {
            own.clearcoat_normal = vec3(mapped.xy * own.clearcoat_normal_scale, max(mapped.z, 1e-3));
        }
#endif
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
