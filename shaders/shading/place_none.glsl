// Without textures surfaces keep nothing of a place.
#include "interface/interaction.glsl"

void set_interaction_place(inout Interaction at, vec3 place, vec4 tangent) {}
