// The first step, of pixels, for the points of a lattice: moments of light and normals.
// Needs the streams lit (for its surfaces), light (a `Lit` of the same size).
#include "film/denoise/alike.glsl"

Moments moments_at(ivec2 place) {
    Lit there = fetch_lit(place), seen = fetch_light(place);
    vec3 normal = there.normal;
    float value = dot(seen.rgb, LUMINANCE), variance = with_surface(abs(seen.variance), surface_in(there.variance));
    vec4 squares = vec4(normal.x * normal, normal.y * normal.y);
    return Moments(seen.rgb, variance, normal, there.nearness, squares, normal.y * normal.z, value * normal);
}

#include "film/denoise/step.glsl"

Moments element(ivec2 at) {
    return step_at(at, textureSize(in_lit_0, 0) - 1);
}
