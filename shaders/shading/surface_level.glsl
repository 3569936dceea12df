// The level of textures where a camera's ray meets them, in mip levels over that of a footprint of 1 scene unit.
#include "interface/camera.glsl"

float surface_level(Ray ray, float t) {
#ifdef HAVE_PROJECTED
    float width = camera_pixel(ray.origin) + camera_spread(ray.direction) * t;
#else
    float width = camera_spread(ray.direction) * t;
#endif
    return 0.5 + log2(max(width, 1e-37));
}
