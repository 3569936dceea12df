// The base colour of a material at a point: its factor, the vertex colour and the texture, multiplied (glTF 2.0,
// 3.9.2); its emission: the factor times its own texture (3.9.3), W / (m^2 sr), linear sRGB.
#include "interface/texture.glsl"
#include "lib/second_place.glsl"

vec3 material_texel(int number, Geometry at) {
    return texture_texel(number, at.uv, second_place(at), true).rgb;
}

// The base colour at a hit, linear sRGB.
vec3 material_color(Geometry at, Hit hit, Material material) {
#ifdef HAVE_CLASSIC
    if (material.kind == KIND_CLASSIC) return classic_color(at, hit, material.base_color);
#endif
    return material.base_color * at.color * material_texel(material.texture, at);
}

vec3 material_emission(Geometry at, Hit hit, Material material) {
    at.uv.z = emission_level(at.uv.z);
    return material.emission * material_texel(material.emission_texture, at);
}
