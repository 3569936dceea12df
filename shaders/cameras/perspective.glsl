// A pinhole of each eye of a stereo pair, whose views are parallel. vec4 camera_film: tangents of half the field of view.
#include "cameras/projected.glsl"

bool projected_ray(vec2 at, float eye, out vec3 start, out vec3 direction) {
    start = vec3(eye, 0.0, 0.0);
    direction = vec3(at.x * camera_film.x, -at.y * camera_film.y, 1.0);
    return true;
}

float projected_spread(vec3 direction) {
    return camera_film.y * camera_texel.y * direction.z;
}

float projected_pixel(vec3 point) {
    return camera_film.y * camera_texel.y * length(point);
}
