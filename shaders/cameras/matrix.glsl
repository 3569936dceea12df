// What the two measured cameras have in common. vec4 camera_film: factors of a place, and what is added, to the plane at
// depth 1 before the distortion is taken out; float camera_skew: of its axes.
#include "cameras/projected.glsl"

// y down.
vec2 matrix_place(vec2 at) {
    vec2 film = at * camera_film.xy + camera_film.zw;
    return vec2(film.x - camera_skew * film.y, film.y);
}

float projected_pixel(vec3 point) {
    return camera_film.y * camera_texel.y * length(point);
}
