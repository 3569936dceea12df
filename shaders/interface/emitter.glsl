// What lights provide to whoever sends light out instead of looking for it.

// A ray of light: one light is chosen by power, a point of it, and a direction. choose, place and direction_u in [0, 1).
// aimed: light alone that may come to something specular before anything else; of it, none is missing. normal: of the surface that it leaves, or zero. flux: W, linear sRGB, that one of one rays carries.
// False: this choice sends nothing.
bool light_emit(
    float choose, vec2 place, vec2 direction_u, bool aimed, out vec3 origin, out vec3 normal, out vec3 direction, out vec3 flux
);
