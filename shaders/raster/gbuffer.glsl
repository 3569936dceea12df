// The features of what a picture's pixels see through their centres, from the visibility buffer. Where that is a blended
// surface they are left to a ray, which takes those behind it, too: kernels/add_layer.glsl.
#include "lib/features_hit.glsl"
#include "raster/visible.glsl"

uniform sampler2D in_visible;  // place of the triangle in the index buffer, and slot of the instance; below 0: none

layout(location = 0) out vec4 out_features_0;
layout(location = 1) out vec4 out_features_1;
layout(location = 2) out vec4 out_features_2;
layout(location = 3) out vec4 out_features_3;

void main() {
    ivec2 pixel = ivec2(gl_FragCoord.xy), visible = ivec2(texelFetch(in_visible, pixel, 0).xy);
    Ray ray = visible_ray(pixel);
    Hit hit = Hit(ray.t_max, vec2(0.0), -1, 0);
    if (visible.x >= 0) hit = visible_at(ray, visible.x, visible.y);
#ifdef HAVE_BLEND
    bool blended = hit.triangle >= 0 && opacity_at(hit) < 1.0;
#else
    const bool blended = false;
#endif
    Features features = NO_FEATURES;
    if (!blended) features = features_of_hit(ray, hit);
    pack_Features(features, out_features_0, out_features_1, out_features_2, out_features_3);
}
