// Cones of the size of a pixel (T. Akenine-Moeller et al., "Improved Shader and Texture Level of Detail Using Ray Cones",
// JCGT 10 (1), 2021). On a slanted surface a cone's shorter axis counts: what it is longer, a pixel's samples cover.
// A surface passes on the width of a pixel at its distance from the camera (M. Pharr, W. Jakob and G. Humphreys, Physically
// Based Rendering, 4th edition, 2023, section 10.1.3): what a path has come over is longer, so that nothing is blurred.
#include "interface/camera.glsl"
#include "interface/cone.glsl"
#include "interface/sampler.glsl"

// Of n samples each stands for 1 / n of the pixel, as far as an eighth of its width (there, too): the first is without
// aliasing, and many together are no more blurred than the pixel's filter.
vec2 cone_of_pixel(ivec2 pixel, int number, vec3 direction) {
    const int dimension = 65535;  // of the dimensions, and nobody else's
    float width_factor = max(inversesqrt(float(number + 1)), 0.125);
    return vec2(camera_spread(direction), width_factor * exp2(sample_1d(pixel, number, dimension)));
}

float cone_width(vec2 cone, vec3 origin, float t) {
    return cone.y * (camera_pixel(origin) + cone.x * t);
}

// A direction stands for a solid angle of about 1 / pdf, of which many samples have a share each: a cone of 1 / 400 of
// it, 6 degrees across for Lambert's law, hides no detail that would be seen in the light which comes that way.
vec2 cone_scattered(vec2 cone, float pdf) {
    return vec2(pdf > 0.0 ? max(cone.x, 0.0564 * inversesqrt(pdf)) : cone.x, cone.y);
}
