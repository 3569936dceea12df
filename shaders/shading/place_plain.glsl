// What glTF's materials keep of a place, where no surface has directions of its own: where textures are looked up.
#include "interface/interaction.glsl"

void set_interaction_place(inout Interaction at, vec3 place, vec4 tangent) {
    at.place = place;
}

vec3 interaction_place(Interaction at) {
    return at.place;
}
