// The first step, of pixels, for the points of a lattice: moments of light and normals.
// Needs the streams lit (for its surfaces), light (a `Lit` of the same size).
#include "film/denoise/alike.glsl"

Moments moments_at(ivec2 place) {
    Lit surface = fetch_lit(place), light = fetch_light(place);
    vec3 normal = surface.normal;
    float value = dot(light.rgb, LUMINANCE), variance = with_surface(abs(light.variance), surface_in(surface.variance));
    vec4 squares = vec4(normal.x * normal, normal.y * normal.y);
    return Moments(light.rgb, variance, normal, surface.nearness, squares, normal.y * normal.z, value * normal);
}

#include "film/denoise/step.glsl"

Moments element(ivec2 at) {
    return step_at(at, textureSize(in_lit_0, 0) - 1);
}
