// A pinhole camera: the twin of raystream.scene.camera.Camera.rays.
// camera_right and camera_up are scaled by the tangents of half the field of view.
#include "interface/camera.glsl"

// Towards a point of the film, in pixels from the picture's upper left corner; as long as its depth is 1.
vec3 camera_towards(vec2 film) {
    vec2 at = film * camera_texel - 1.0;  // -1 .. 1
    return camera_forward + at.x * camera_right - at.y * camera_up;
}

// The tangent of the angle that a pixel has around a direction, across the way from the middle of the picture.
float camera_spread(vec3 direction) {
    return length(camera_up) * camera_texel.y * dot(direction, camera_forward);
}

// The side of a pixel at a point's distance.
float camera_pixel(vec3 point) {
    return length(camera_up) * camera_texel.y * distance(point, camera_origin);
}

void camera_ray(ivec2 pixel, out vec3 origin, out vec3 direction) {
    origin = camera_origin;
    direction = normalize(camera_towards(vec2(pixel) + 0.5));
}
