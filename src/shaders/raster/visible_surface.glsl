// The features of what a picture's pixels see through their centres, from the places of triangles that have been drawn.
// The rasteriser's edges are off by up to a part of a pixel: weights of the corners are held within the triangle.
#include "interface/camera.glsl"
#include "interface/environment.glsl"
#include "interface/surface.glsl"

uniform sampler2D in_visible;  // place of the triangle in the order of the draw; below 0: none
uniform sampler2D in_order;    // its number in the scene

layout(location = 0) out vec4 out_features_0;
layout(location = 1) out vec4 out_features_1;
layout(location = 2) out vec4 out_features_2;
layout(location = 3) out vec4 out_features_3;

Hit hit_of(Ray ray, int triangle) {
    ivec3 corners = fetch_faces(triangle).corners;
    vec3 a = fetch_vertices(corners.x).position;
    vec3 ab = fetch_vertices(corners.y).position - a, ac = fetch_vertices(corners.z).position - a;
    vec3 from = ray.origin - a, across = cross(ray.direction, ac), along = cross(from, ab);
    float area = dot(ab, across), scale = abs(area) > 1e-37 ? 1.0 / area : 0.0;
    vec2 weights = max(vec2(dot(from, across), dot(ray.direction, along)) * scale, 0.0);
    weights /= max(weights.x + weights.y, 1.0);
    return Hit(distance(a + weights.x * ab + weights.y * ac, ray.origin), weights, triangle, 0);
}

void main() {
    ivec2 pixel = ivec2(gl_FragCoord.xy);
    int place = int(texelFetch(in_visible, pixel, 0).x);
    int wide = textureSize(in_order, 0).x, row = max(place, 0) / wide;
    Ray ray = Ray(vec3(0.0), 0.0, vec3(0.0), 0);
    camera_ray(pixel, ray.origin, ray.direction);
    Features features = Features(vec3(0.0), 0.0, vec3(0.0), 0.0, vec3(0.0), 1.0, -1, 0);
    if (place >= 0) {
        Hit hit = hit_of(ray, int(texelFetch(in_order, ivec2(place - row * wide, row), 0).x));
        Surface surface = surface_at(ray, hit);
        features.normal = surface.normal;
        features.depth = hit.t;
        features.albedo = surface.albedo;
        features.hits = 1.0;
        features.emission = emission_seen(ray, hit);
        features.triangle = hit.triangle;
    } else {
        features.emission = environment_radiance(ray.direction);
    }
    pack_Features(features, out_features_0, out_features_1, out_features_2, out_features_3);
}
