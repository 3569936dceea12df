// The variance that steers the filter: the mean of the pixels' own around, on surfaces alike, since that of few samples
// is often 0 where light is rare. Of pixels with one sample that of the light around (Schied et al. 2017,
// "Spatiotemporal Variance-Guided Filtering", section 4.2). Needs the stream lit.
#include "film/denoise/view.glsl"
#include "film/denoise/alike.glsl"
#include "film/denoise/reflected.glsl"
#include "lib/luminance.glsl"

Plane plane;
ivec2 middle, last;
float total, first, second, known;

void tap(int x, int y) {
    ivec2 place = clamp(middle + ivec2(x, y), ivec2(0), last);
    Lit there = fetch_lit(place);
    float weight = falling(unlike(plane, there, vec2(x, y)));
    float value = dot(there.rgb, LUMINANCE);
    total += weight;
    first += weight * value;
    second += weight * value * value;
    known += weight * there.variance;
}

Irradiance element(ivec2 at) {
    Lit own = fetch_lit(at);
    plane = plane_of(own, at, 2.0);
    middle = at;
    last = textureSize(in_lit_0, 0) - 1;
    total = first = second = known = 0.0;
    tap(0, 0);
    for (int side = -1; side <= 1; side += 2) {
        tap(side, -1);
        tap(side, 1);
        tap(2 * side, 0);
        tap(0, 2 * side);
        tap(2 * side, -2);
        tap(2 * side, 2);
    }
    first /= total;
    float around = max(second / total - first * first, 0.0);
    float variance = own.variance < 0.0 ? around : known / total;
    return Irradiance(own.rgb, with_reflected(variance, reflected_in(own.variance)));
}
