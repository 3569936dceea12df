// A level of an a-trous transform (Dammertz et al. 2010) of what a regression has missed: the mean of the pixels around, and
// of the difference from it as much as is beyond its noise (N. Wiener's filter, 1949; D. Donoho and I. Johnstone 1994),
// which is added to the light. Needs the streams lit (for its surfaces), residual.
#include "film/regression/near.glsl"

uniform int reach;    // pixels between two taps
uniform float last_level;  // 1: of the mean, too, as much as is beyond its noise

const float DOUBT = 1.5;  // times the noise: more is light, since a variance of few pixels varies itself

Plane plane, wide;
uint surface;
ivec2 middle, last;
float total, squares, variance, second, near_total, near_variance, near_second;
vec3 first;

void tap(int x, int y, float kernel) {
    ivec2 offset = reach * ivec2(x, y), wanted = middle + offset, place = clamp(wanted, ivec2(0), last);
    Lit there = fetch_lit(place);
    Residual residual = fetch_residual(place);
    float weight = kernel * falling(unlike(plane, Guide(there.normal, there.nearness), vec2(offset)));
    float near = falling(apart_from(wide, Guide(there.normal, there.nearness), vec2(offset)));
    if (place != wanted || surface_in(there.variance) != surface) weight = near = 0.0;
    float difference = dot(residual.rgb, LUMINANCE);
    total += weight;
    squares += weight * weight * residual.variance;
    variance += weight * residual.variance;
    first += weight * residual.rgb;
    second += weight * difference * difference;
    near_total += near;
    near_variance += near * residual.variance;
    near_second += near * difference * difference;
}

void row(int y, float kernel) {
    tap(-2, y, kernel);
    tap(-1, y, 4.0 * kernel);
    tap(0, y, 6.0 * kernel);
    tap(1, y, 4.0 * kernel);
    tap(2, y, kernel);
}

float beyond(float square, float noise) {
    return square > noise ? 1.0 - noise / square : 0.0;
}

Residual element(ivec2 at) {
    Lit own = fetch_lit(at);
    Residual here = fetch_residual(at);
    if (here.variance < 0.0 || !(own.nearness > 0.0)) return Residual(vec3(0.0), -1.0, here.light, 0.0);
    plane = plane_of(Guide(own.normal, own.nearness), at, float(reach));
    wide = plane_near(Guide(own.normal, own.nearness), at, float(reach));
    middle = at;
    surface = surface_in(own.variance);
    last = textureSize(in_lit_0, 0) - 1;
    total = squares = variance = second = near_total = near_variance = near_second = 0.0;
    first = vec3(0.0);
    row(-2, 1.0);
    row(-1, 4.0);
    row(0, 6.0);
    row(1, 4.0);
    row(2, 1.0);
    first /= total;
    squares /= total * total;
    variance /= total;
    float mean = dot(first, LUMINANCE), spread = max(second / total - mean * mean, 0.0);
    float high = beyond(spread, DOUBT * max(max(variance, here.variance) - squares, 0.0));
    vec3 light = here.light + high * (here.rgb - first);
    float left = here.left + high * high * max(here.variance - squares, 0.0);
    if (last_level > 0.0) {
        float low = beyond(mean * mean, DOUBT * squares);
        light += low * first;
        left += low * low * squares;
    }
    return Residual(first, squares, light, left);
}
