// Parallel rays along the view, from the plane across it through the camera's origin. vec4 camera_film: half the width and
// the height of what the picture shows, scene units.
#include "cameras/projected.glsl"

bool projected_ray(vec2 at, float eye, out vec3 start, out vec3 direction) {
    start = vec3(at.x * camera_film.x + eye, -at.y * camera_film.y, 0.0);
    direction = vec3(0.0, 0.0, 1.0);
    return true;
}

float projected_spread(vec3 direction) {
    return 0.0;
}

float projected_pixel(vec3 point) {
    return camera_film.y * camera_texel.y;
}
