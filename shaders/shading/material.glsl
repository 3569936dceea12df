// The base colour of a material at a point: its factor, the vertex colour and the texture, multiplied (glTF 2.0, 3.9.2).
#include "interface/texture.glsl"

vec3 material_color(Geometry at, Material material) {
    return material.base_color * at.color * texture_color(material.texture, at.uv);
}
