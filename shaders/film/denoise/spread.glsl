// The variance that steers the filter: the mean of the pixels' own around, on surfaces alike, since that of few samples
// is often 0 where light is rare. Of pixels with one sample that of the light around (Schied et al. 2017,
// "Spatiotemporal Variance-Guided Filtering", section 4.2). Needs the streams guide, light.
#include "film/denoise/view.glsl"
#include "film/denoise/alike.glsl"
#include "lib/luminance.glsl"

Irradiance light, result;
Plane plane;
ivec2 middle, last;
float total, first, second, known;

void tap(int x, int y) {
    ivec2 place = clamp(middle + ivec2(x, y), ivec2(0), last);
    Irradiance there = fetch_light(place);
    float weight = falling(unlike(plane, fetch_guide(place), vec2(x, y)));
    float value = dot(there.rgb, LUMINANCE);
    total += weight;
    first += weight * value;
    second += weight * value * value;
    known += weight * there.variance;
}

Irradiance element(ivec2 at) {
    light = fetch_light(at);
    plane = plane_of(fetch_guide(at), at, 2.0);
    middle = at;
    last = textureSize(in_light_0, 0) - 1;
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
    light.variance = light.variance < 0.0 ? around : known / total;
    return light;
}
