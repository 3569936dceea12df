// All around: longitudes from left to right, latitudes from the top to the bottom; the middle is along the view. The eyes of
// a pair turn with the way, so that each looks across the line between them (H. Ishiguro, M. Yamamoto and S. Tsuji,
// "Omni-Directional Stereo", PAMI 14 (2), 1992). vec4 camera_film: half the angles, radians.
#include "cameras/projected.glsl"

bool projected_ray(vec2 at, float eye, out vec3 start, out vec3 direction) {
    vec2 angle = at * camera_film.xy;
    float cos_latitude = cos(angle.y);
    start = eye * vec3(cos(angle.x), 0.0, -sin(angle.x));
    direction = vec3(cos_latitude * sin(angle.x), -sin(angle.y), cos_latitude * cos(angle.x));
    return true;
}

// Towards the poles pixels are narrow, and a path's samples many: an eighth is enough.
float projected_spread(vec3 direction) {
    return camera_film.y * camera_texel.y * clamp(length(direction.xz), 0.125, 1.0);
}

float projected_pixel(vec3 point) {
    return camera_film.y * camera_texel.y * length(point);
}
