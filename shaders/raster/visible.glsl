// What the programs of a scene's G-buffer have in common: rays through the pixels' centres, and what they meet where the
// rasteriser has found a triangle.
#include "interface/camera.glsl"
#include "lib/far.glsl"
#include "lib/ray_tag.glsl"
#include "raster/slot.glsl"

uniform sampler2D in_order;  // numbers of triangles by their places in the index buffer

// That of the first sample, as lib/first_ray.glsl begins it.
Ray visible_ray(ivec2 pixel) {
    Ray ray;
    camera_ray(pixel, ray.origin, ray.direction);
    ray.t_max = FAR;
    ray.any_hit = ray_tag(0, true);
    return ray;
}

// Of the triangle at a place, of the instance in a slot: that knows its number, and the scene's of its first triangle.
Hit visible_at(Ray ray, int place, int slot) {
    int order_width = textureSize(in_order, 0).x, row = place / order_width;
    vec4 instance = slot_texel(slot, 3);
    int number = int(texelFetch(in_order, ivec2(place - row * order_width, row), 0).x);
    return visible_hit(ray, number + int(instance.y), int(instance.x));
}
