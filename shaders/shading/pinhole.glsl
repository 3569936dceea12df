// A pinhole camera: the twin of viewer.scene.camera.Camera.rays.
// camera_right and camera_up are scaled by the tangents of half the field of view.
#include "interface/camera.glsl"

void camera_ray(ivec2 pixel, out vec3 origin, out vec3 direction) {
    vec2 at = (vec2(pixel) + 0.5) * camera_texel - 1.0;  // -1 .. 1
    origin = camera_origin;
    direction = normalize(camera_forward + at.x * camera_right - at.y * camera_up);
}
