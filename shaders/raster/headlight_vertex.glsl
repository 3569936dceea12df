// Vertex program of the first picture: what a headlight at the eye needs of a vertex, and of its material.
#include "raster/slot_vertex.glsl"

uniform mat3 view_columns;       // from column and row, -1 .. 1 times the depth, and depth, to the world
uniform sampler2D in_materials;  // of each four texels, see below

in vec3 normal;  // zero: the mesh has none
in vec4 tint;    // linear sRGB, and opacity
in vec3 texel;   // texture coordinates, and the number of the material; less than 0: -1 less the number, without a texture

out vec3 towards;  // from the eye, world space, scene units
out vec3 facing;   // world space
out vec4 color;    // linear sRGB, and opacity
out vec4 glow;     // linear sRGB, and the share of light that is transmitted
out vec3 fuzz;     // of a sheen, linear sRGB
out vec2 place;
flat out float layer;   // of the base colour textures; -1: none
flat out float cutoff;  // of the opacity; 0: it is blended, -1: opaque

const int MATERIAL = 4, MATERIALS = 256;  // texels of a material, and materials in a row

vec4 material_texel(int number, int k) {
    int row = number / MATERIALS;
    return texelFetch(in_materials, ivec2(MATERIAL * (number - row * MATERIALS) + k, row), 0);
}

void main() {
    int slot = vertex_slot(), number = int(texel.z < 0.0 ? -1.0 - texel.z : texel.z);
    vec3 at = vertex_in_view(slot);
    towards = view_columns * at;
    facing = vec3(dot(slot_texel(slot, 3).xyz, normal), dot(slot_texel(slot, 4).xyz, normal), dot(slot_texel(slot, 5).xyz, normal));
    vec4 sheen = material_texel(number, 2);
    color = tint * material_texel(number, 0);
    glow = material_texel(number, 1);
    fuzz = sheen.rgb;
    cutoff = sheen.a;
    layer = texel.z < 0.0 ? -1.0 : material_texel(number, 3).x;
    place = texel.xy;
    gl_Position = vertex_on_screen(at);
}
