// Moments of the light and the normals around a point of the lattice, and the variance of that light: of pixels whose own
// variance is not known (of one sample) by the spread of the light around them.
// Needs the streams lit (for its surfaces), light (a `Lit` of the same size).
#include "film/regression/near.glsl"
#include "film/regression/moments.glsl"

uniform int stride;  // pixels between two points of the lattice

Plane plane;
ivec2 middle, last;
float surface, total, square_total, around, first, second, known, unknown;
Moments sum;

void tap(int x, int y, float kernel) {
    ivec2 offset = ivec2(x, y), wanted = middle + offset, place = clamp(wanted, ivec2(0), last);
    Lit there = fetch_lit(place), found = fetch_light(place);
    float weight = place == wanted ? falling(apart_from(plane, Guide(there.normal, there.nearness), vec2(offset))) : 0.0;
    weight *= same_surface(there.variance, surface);
    float value = dot(found.rgb, LUMINANCE);
    around += weight;
    first += weight * value;
    second += weight * value * value;
    known += weight * max(found.variance, 0.0);
    unknown += found.variance < 0.0 ? weight : 0.0;
    weight *= kernel;
    total += weight;
    square_total += weight * weight;
    vec3 normal = there.normal;
    vec4 squares = vec4(normal.x * normal, normal.y * normal.y);
    Moments own = Moments(found.rgb, 0.0, normal, there.nearness, squares, normal.y * normal.z, value * normal);
    sum = with_weighted(sum, own, weight);
}

void row(int y, float kernel) {
    tap(-2, y, 0.0);
    tap(-1, y, kernel);
    tap(0, y, 2.0 * kernel);
    tap(1, y, kernel);
    tap(2, y, 0.0);
}

Moments element(ivec2 at) {
    last = textureSize(in_lit_0, 0) - 1;
    middle = min(stride * at, last);
    Lit own = fetch_lit(middle);
    surface = own.variance;
    plane = plane_near(Guide(own.normal, own.nearness), middle, 2.0);
    total = square_total = around = first = second = known = unknown = 0.0;
    sum = NO_MOMENTS;
    row(-2, 0.0);
    row(-1, 1.0);
    row(0, 2.0);
    row(1, 1.0);
    row(2, 0.0);
    if (!(own.nearness > 0.0) || total <= 0.0) return NO_MOMENTS;
    first /= around;
    float single = unknown > 0.0 ? max(second / around - first * first, 0.0) : known / around;
    float variance = single * square_total / (total * total);
    return mean_of(sum, total, with_surface(variance, surface_in(surface)));
}
