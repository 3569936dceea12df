// A principled material at a point: its factors times its textures.
// Where channels part (KHR_materials_dispersion) an interaction's channel tells which: 0 all, 1, 2, 3 red, green, blue; 4
// more: it refracts for certain; 8: it reflects for certain, whatever the channel. The index is then that channel's.
#include "interface/interaction.glsl"
#ifdef HAVE_NESTED
#include "interface/media.glsl"
#endif
#ifdef HAVE_TEXTURES
#include "interface/texture.glsl"

// The channels of a texture there; 1 where there is none.
vec4 principled_texel(int number, Interaction at) {
    vec3 place = interaction_place(at);
#ifdef HAVE_SECOND_UV
    if ((fetch_textures(max(number, 0)).flags & TEXTURE_SECOND) != 0) place = interaction_uv_1(at);
#endif
    return texture_data(number, place);
}

// As principled_texel, red, green and blue made linear.
vec3 principled_texel_color(int number, Interaction at) {
    vec3 place = interaction_place(at);
#ifdef HAVE_SECOND_UV
    if ((fetch_textures(max(number, 0)).flags & TEXTURE_SECOND) != 0) place = interaction_uv_1(at);
#endif
    return texture_color(number, place);
}
#endif

Principled principled_at(Interaction at) {
    Principled own = fetch_principled(interaction_material(at));
#ifdef HAVE_METALLIC_ROUGHNESS_TEXTURE
    vec4 both = principled_texel(own.metallic_roughness_texture, at);
    own.roughness *= both.g;
    own.metallic *= both.b;
#endif
#ifdef HAVE_SPECULAR_FACTOR_TEXTURE
    own.specular_factor *= principled_texel(own.specular_factor_texture, at).a;
#endif
#ifdef HAVE_SPECULAR_COLOR_TEXTURE
    own.specular_color *= principled_texel_color(own.specular_color_texture, at);
#endif
#ifdef HAVE_TRANSMISSION_TEXTURE
    own.transmission *= principled_texel(own.transmission_texture, at).r;
#endif
#ifdef HAVE_ANISOTROPY_TEXTURE
    vec4 way = principled_texel(own.anisotropy_texture, at);
    if (own.anisotropy_texture >= 0) {
        vec2 along = way.xy * 2.0 - 1.0, axis = own.anisotropy_axis;
        own.anisotropy_axis = vec2(along.x * axis.x - along.y * axis.y, along.x * axis.y + along.y * axis.x);
        own.anisotropy *= way.b;
    }
#endif
#ifdef HAVE_CLEARCOAT_TEXTURE
    own.clearcoat *= principled_texel(own.clearcoat_texture, at).r;
#endif
#ifdef HAVE_CLEARCOAT_ROUGHNESS_TEXTURE
    own.clearcoat_roughness *= principled_texel(own.clearcoat_roughness_texture, at).g;
#endif
#ifdef HAVE_IRIDESCENCE_TEXTURE
    own.iridescence *= principled_texel(own.iridescence_texture, at).r;
#endif
#ifdef HAVE_SHEEN_COLOR_TEXTURE
    own.sheen_color *= principled_texel_color(own.sheen_color_texture, at);
#endif
#ifdef HAVE_SHEEN_ROUGHNESS_TEXTURE
    own.sheen_roughness *= principled_texel(own.sheen_roughness_texture, at).a;
#endif
#ifdef HAVE_DIFFUSE_TRANSMISSION_TEXTURE
    own.diffuse_transmission *= principled_texel(own.diffuse_transmission_texture, at).a;
#endif
#ifdef HAVE_DIFFUSE_TRANSMISSION_COLOR_TEXTURE
    own.diffuse_transmission_color *= principled_texel_color(own.diffuse_transmission_color_texture, at);
#endif
#ifdef HAVE_IRIDESCENCE
    float layer = 1.0;
#ifdef HAVE_IRIDESCENCE_THICKNESS_TEXTURE
    layer = principled_texel(own.iridescence_thickness_texture, at).g;
#endif
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
