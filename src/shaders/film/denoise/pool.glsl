// The light of a lattice's points, every second pixel of every second row: each pixel gives its light to the one point that
// it is, or to the two that it is between, along a row, a column or the diagonal, on surfaces alike; of a pair of which
// one is not alike the other takes all (compose.glsl takes back by the same weights). Beside it the variance that steers
// the filter, the mean of that of the pixels around the point, since that of few samples is often 0 where light is rare.
// Pixels with one sample have that of the light around (Schied et al. 2017, "Spatiotemporal Variance-Guided Filtering",
// section 4.2); of others it is less where the light around differs by more than noise (as of Wiener's filter), so that
// what is sharp in mirrors stays so. Needs the stream lit.
#include "film/denoise/shared.glsl"

// A pixel beside the point.
struct Beside {
    vec3 rgb;
    float luminance, variance, weight;
};

ivec2 middle, last;
Lit own;
float total, first, second, known, weights, squares;
vec3 sum;

Beside beside(int x, int y) {
    ivec2 offset = ivec2(x, y), wanted = middle + offset, place = clamp(wanted, ivec2(0), last);
    ivec2 further = middle + 2 * offset, beyond = clamp(further, ivec2(0), last & ~1);
    Lit there = fetch_lit(place), other = fetch_lit(beyond);
    Plane plane = plane_of(Guide(there.normal, there.nearness), place, 1.0);
    float weight = falling(unlike(plane, Guide(own.normal, own.nearness), -vec2(offset)));
    float rival = falling(unlike(plane, Guide(other.normal, other.nearness), vec2(offset)));
    if (place != wanted) weight = 0.0;
    if (beyond != further) rival = 0.0;
    float luminance = dot(there.rgb, LUMINANCE);
    total += weight;
    first += weight * luminance;
    second += weight * luminance * luminance;
    known += weight * max(there.variance, 0.0);
    return Beside(there.rgb, luminance, there.variance, weight / max(weight + rival, 1.0));
}

void give(Beside pixel) {
    float weight = pixel.weight * same_light(pixel.luminance, first, known) * reflected_in(pixel.variance);
    weights += weight;
    sum += weight * pixel.rgb;
    squares += weight * weight * (pixel.variance < 0.0 ? known : pixel.variance);
}

Pooled element(ivec2 at) {
    middle = 2 * at;
    last = textureSize(in_lit_0, 0) - 1;
    own = fetch_lit(middle);
    first = dot(own.rgb, LUMINANCE);
    Beside self = Beside(own.rgb, first, own.variance, 1.0);
    total = 1.0;
    second = first * first;
    known = max(own.variance, 0.0);
    Beside a = beside(-1, 0), b = beside(1, 0), c = beside(0, -1), d = beside(0, 1), e = beside(-1, -1), f = beside(1, 1);
    first /= total;
    known /= total;
    float around = max(second / total - first * first, 0.0);
    known = own.variance < 0.0 ? around : known * min(known / max(around, 1e-30), 1.0);
    weights = squares = 0.0;
    sum = vec3(0.0);
    give(self);
    give(a);
    give(b);
    give(c);
    give(d);
    give(e);
    give(f);
    float scale = 1.0 / max(weights, 1e-6);
    float variance = with_reflected(squares * scale * scale, 0.25 * weights);
    return Pooled(sum * scale, variance, own.normal, own.nearness, first, known);
}
