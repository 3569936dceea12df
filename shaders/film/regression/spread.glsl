// A step of an a-trous transform (Dammertz et al. 2010) of moments, by the kernel (1, 2, 1) squared: surfaces of about one
// depth count, and of their light what is within the range that its variance makes likely.
// Needs the stream moments.
#include "film/regression/near.glsl"
#include "film/regression/moments.glsl"

uniform int reach;         // distance between two taps, points of the lattice
uniform float deviations;  // of the luminance, within which light counts as alike
uniform float strict;      // 0: all light does

Plane plane;
ivec2 middle, last;
float own, own_variance, range, least, total, variance;
Moments sum;

void tap(int x, int y, float kernel) {
    ivec2 offset = reach * ivec2(x, y), wanted = middle + offset, place = clamp(wanted, ivec2(0), last);
    Moments there = fetch_moments(place);
    float exponent = apart_from(plane, Guide(there.normal, there.nearness), vec2(offset));
    exponent += strict * abs(dot(there.rgb, LUMINANCE) - own) * inversesqrt(range * (own_variance + there.variance) + least);
    float weight = place == wanted ? kernel * falling(exponent) : 0.0;
    weight *= same_surface(there.variance, own_variance);
    total += weight;
    variance += weight * weight * there.variance;
    sum = with_weighted(sum, there, weight);
}

Moments element(ivec2 at) {
    Moments here = fetch_moments(at);
    if (!(here.nearness > 0.0)) return here;
    middle = at;
    last = textureSize(in_moments_0, 0) - 1;
    plane = plane_near(Guide(here.normal, here.nearness), at, float(reach));
    own = dot(here.rgb, LUMINANCE);
    own_variance = here.variance;
    range = 0.5 * deviations * deviations;
    least = 1e-12 * (1.0 + own * own);
    total = variance = 0.0;
    sum = NO_MOMENTS;
    tap(0, 0, 4.0);
    for (int side = -1; side <= 1; side += 2) {
        tap(side, 0, 2.0);
        tap(0, side, 2.0);
        tap(side, -1, 1.0);
        tap(side, 1, 1.0);
    }
    return mean_of(sum, total, with_surface(variance / (total * total), surface_in(own_variance)));
}
