// Where an instance's vertex is in the picture. Coordinates are homogeneous, with the depth along the view as their last
// one; what is nearer than the least depth is cut.
#include "raster/slot.glsl"

uniform sampler2D in_first_slots;  // by mesh
uniform int slot_offset;           // of the draw's first instance among those of its mesh
uniform float least_depth;         // scene units

in vec3 position;
in float mesh;

const int FIRST_SLOTS = 4096;  // in a row

int vertex_slot() {
    int number = int(mesh), row = number / FIRST_SLOTS;
    return int(texelFetch(in_first_slots, ivec2(number - row * FIRST_SLOTS, row), 0).x) + slot_offset + gl_InstanceID;
}

vec3 vertex_in_view(int slot) {
    vec4 at = vec4(position, 1.0);
    return vec3(dot(slot_texel(slot, 0), at), dot(slot_texel(slot, 1), at), dot(slot_texel(slot, 2), at));
}

// In clip space: nearer than least_depth z / w is below -1 and clipped; there is no far plane.
vec4 vertex_on_screen(vec3 at) {
    return vec4(at.xy, at.z - 2.0 * least_depth, at.z);
}
