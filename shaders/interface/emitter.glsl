// What lights provide to whoever sends light out instead of looking for it.

// A ray of light: one light is chosen by power, a point of it, and a direction. choose, place and way in [0, 1).
// normal: of the surface that it leaves, or zero. flux: W, linear sRGB, that one of one rays carries.
// False: this choice sends nothing.
bool light_emit(
    float choose, vec2 place, vec2 way, out vec3 origin, out vec3 normal, out vec3 direction, out vec3 flux
);
