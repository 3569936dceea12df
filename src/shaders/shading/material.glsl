// The base colour of a material at a point: its factor, the vertex colour and the texture, multiplied (glTF 2.0,
// 3.9.2); its emission: the factor times its own texture (3.9.3), W / (m^2 sr), linear sRGB.
#include "interface/texture.glsl"
#ifdef HAVE_SECOND_UV
#include "interface/detail.glsl"
#endif

vec3 material_texel(int number, Geometry at, Hit hit) {
    vec3 place = at.uv;
#ifdef HAVE_SECOND_UV
    if ((fetch_textures(max(number, 0)).flags & TEXTURE_SECOND) != 0) {
        place = detail_here.uv_1 + vec3(0.0, 0.0, place.z);
    }
#endif
    return texture_color(number, place);
}

vec3 material_color(Geometry at, Hit hit, Material material) {
#ifdef HAVE_CLASSIC
    if (material.kind == KIND_CLASSIC) return classic_color(at, hit, material.base_color);
#endif
    return material.base_color * at.color * material_texel(material.texture, at, hit);
}

vec3 material_emission(Geometry at, Hit hit, Material material) {
#ifdef HAVE_SHINING
    at.uv.z = TEXTURE_SHARP;  // as lights are sampled: what a mip level spreads would count besides
#endif
    return material.emission * material_texel(material.emission_texture, at, hit);
}
