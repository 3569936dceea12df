// A level of an a-trous transform of what a regression has missed (Dammertz et al. 2010): its mean over the pixels around
// that are alike, by the kernel (1, 4, 6, 4, 1) squared; and of what the pixel is off that mean as much as the pixels
// around are off it beyond their noise (N. Wiener 1949; D. Donoho and I. Johnstone, "Ideal Spatial Adaptation by Wavelet
// Shrinkage", 1994), which is added to the light. Needs the streams lit (for its surfaces), residual.
#include "film/denoise/alike.glsl"

uniform int reach;         // pixels between two taps
uniform float last_level;  // 1: of the mean, too, as much is added as is beyond its noise

Plane plane;
float surface;
ivec2 middle, last;
float total, squares, variance, second;
vec3 first;

void tap(int x, int y, float kernel) {
    ivec2 offset = reach * ivec2(x, y), target = middle + offset, place = clamp(target, ivec2(0), last);
    Lit neighbour = fetch_lit(place);
    Residual residual = fetch_residual(place);
    float weight = kernel * falling(unlike(plane, Guide(neighbour.normal, neighbour.nearness), vec2(offset)));
    weight *= same_surface(neighbour.variance, surface);
    if (place != target || !(neighbour.nearness > 0.0)) weight = 0.0;
    float luminance = dot(residual.rgb, LUMINANCE);
    total += weight;
    squares += weight * weight * residual.variance;
    variance += weight * residual.variance;
    first += weight * residual.rgb;
    second += weight * luminance * luminance;
}

// The share of a squared value that is beyond its noise: 1 of one that no float32 holds, 0 of what is no number.
float beyond(float square, float noise) {
    return square > noise ? 1.0 - noise / square : 0.0;
}

Residual element(ivec2 at) {
    Lit center = fetch_lit(at);
    Residual here = fetch_residual(at);
    // One sample does not tell what of it is noise.
    if (here.variance < 0.0 || !(center.nearness > 0.0)) return Residual(vec3(0.0), -1.0, here.light, here.error);
    plane = plane_of(Guide(center.normal, center.nearness), at, float(reach), STRICT);
    surface = center.variance;
    middle = at;
    last = textureSize(in_lit_0, 0) - 1;
    total = squares = variance = second = 0.0;
    first = vec3(0.0);
    tap(0, 0, 4.0);
    for (int side = -1; side <= 1; side += 2) {
        tap(side, 0, 2.0);
        tap(0, side, 2.0);
        tap(side, -1, 1.0);
        tap(side, 1, 1.0);
    }
    first /= total;
    squares /= total * total;
    float mean = dot(first, LUMINANCE), spread = max(second / total - mean * mean, 0.0);
    float noise = max(max(variance / total, here.variance) - squares, 0.0);
    float kept = beyond(spread, noise), kept_mean = last_level * beyond(mean * mean, squares);
    vec3 light = here.light + kept * (here.rgb - first) + kept_mean * first;
    return Residual(first, squares, light, here.error + kept * kept * noise + kept_mean * kept_mean * squares);
}
