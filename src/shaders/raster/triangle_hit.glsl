// Fragment program of the feed-forward pass: the very test that the machines run, on the pixel's ray, so that distance
// and weights have their bits. The depth is the distance times a power of two: whatever is nearer is nearer to the bit.
#include "interface/triangle.glsl"
#include "lib/first_ray.glsl"

uniform ivec2 raster_origin;  // the picture's pixel in the lower left texel
uniform int raster_number;    // of the sample
uniform float raster_scale;   // power of two, 1 / scene units: times any distance below 1

flat in int drawn_address;

layout(location = 0) out vec4 out_hit_0;
layout(location = 1) out vec4 out_hit_1;
invariant out_hit_0;
invariant out_hit_1;

void main() {
    Ray ray = first_ray(raster_origin + ivec2(gl_FragCoord.xy), raster_number);
    Hit hit = Hit(ray.t_max, vec2(0.0), -1, 0);
    triangle_test(ray, triangle_setup(ray), drawn_address, 0, hit);
    if (hit.triangle < 0) discard;
    gl_FragDepth = hit.t * raster_scale;
    pack_Hit(hit, out_hit_0, out_hit_1);
}
