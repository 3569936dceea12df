// The base colour of a material at a point: its factor, the vertex colour and the texture, multiplied (glTF 2.0,
// 3.9.2); its emission: the factor times its own texture (3.9.3), W / (m^2 sr), linear sRGB.
#include "interface/texture.glsl"

vec3 material_color(Geometry at, Material material) {
    return material.base_color * at.color * texture_color(material.texture, at.uv);
}

vec3 material_emission(Geometry at, Material material) {
    return material.emission * texture_color(material.emission_texture, at.uv);
}
