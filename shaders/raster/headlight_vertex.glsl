// Vertex program of the first picture: what a headlight at the eye needs of a vertex.
#include "raster/slot_vertex.glsl"

uniform mat3 view_columns;  // from column and row, -1 .. 1 times the depth, and depth, to the world

in vec3 normal;  // zero: the mesh has none
in vec3 tint;    // linear sRGB

out vec3 towards;  // from the eye, world space, scene units
out vec3 facing;   // world space
out vec3 color;

void main() {
    int slot = vertex_slot();
    vec3 at = vertex_in_view(slot);
    towards = view_columns * at;
    facing = vec3(dot(slot_texel(slot, 3).xyz, normal), dot(slot_texel(slot, 4).xyz, normal), dot(slot_texel(slot, 5).xyz, normal));
    color = tint;
    gl_Position = vertex_on_screen(at);
}
