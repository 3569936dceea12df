// The features of what a picture's pixels see through their centres, from the visibility buffer.
#include "interface/environment.glsl"
#include "interface/surface.glsl"
#include "lib/features_hit.glsl"
#include "raster/visible.glsl"
#ifdef HAVE_BACKDROP
#include "lib/backdrop_features.glsl"
#endif

uniform sampler2D in_visible;  // place of the triangle in the index buffer, and slot of the instance; below 0: none

layout(location = 0) out vec4 out_features_0;
layout(location = 1) out vec4 out_features_1;
layout(location = 2) out vec4 out_features_2;
layout(location = 3) out vec4 out_features_3;

void main() {
    ivec2 pixel = ivec2(gl_FragCoord.xy), found = ivec2(texelFetch(in_visible, pixel, 0).xy);
    Ray ray = visible_ray(pixel);
    Features features = Features(vec3(0.0), 0.0, vec3(0.0), 0.0, vec3(0.0), 1.0, -1, 0, 0, 0.0);
    if (found.x >= 0) {
        Hit hit = visible_at(ray, found.x, found.y);
        Surface surface = surface_at(ray, hit);
        features.normal = surface.normal;
        features.depth = hit.t;
        features.albedo = surface.albedo;
        count_hit(features, surface_hash(hit, surface));
        features.emission = emission_seen(ray, hit);
        features.triangle = hit.triangle;
        features.instance = hit.instance;
    } else {
#ifdef HAVE_BACKDROP
        if (add_backdrop(features, ray)) features.instance = -1;
#else
        features.emission = environment_radiance(ray.direction);
#endif
    }
    pack_Features(features, out_features_0, out_features_1, out_features_2, out_features_3);
}
