// A step of an a-trous transform (Dammertz et al. 2010) of moments, by the kernel (1, 2, 1) squared: surfaces of about one
// depth count, and of their light what is within the range that its variance makes likely. Needs `moments_at`.

uniform int stride;    // between the points that are drawn
uniform int reach;     // distance between two taps, points
uniform float strict;  // 0: all light counts

const float DEVIATIONS = 4.0;  // of the luminance, within which light does else
const Moments NO_MOMENTS = Moments(vec3(0.0), 0.0, vec3(0.0), 0.0, vec4(0.0), 0.0, vec3(0.0));

Plane plane;
ivec2 middle;
float luminance, center_variance, least, total, variance;
Moments sum;

// Of the variance, which is not a mean, it takes no care.
Moments with_weighted(Moments sum, Moments other, float weight) {
    sum.rgb += weight * other.rgb;
    sum.normal += weight * other.normal;
    sum.nearness += weight * other.nearness;
    sum.squares += weight * other.squares;
    sum.product += weight * other.product;
    sum.lit_normal += weight * other.lit_normal;
    return sum;
}

void tap(int x, int y, float kernel, ivec2 last) {
    ivec2 offset = reach * ivec2(x, y), target = middle + offset, place = clamp(target, ivec2(0), last);
    Moments neighbour = moments_at(place);
    float exponent = unlike(plane, Guide(neighbour.normal, neighbour.nearness), vec2(offset));
    float range = 0.5 * DEVIATIONS * DEVIATIONS * (center_variance + neighbour.variance) + least;
    exponent += strict * abs(dot(neighbour.rgb, LUMINANCE) - luminance) * inversesqrt(range);
    float weight = place == target && neighbour.nearness > 0.0 ? kernel * falling(exponent) * same_surface(neighbour.variance, center_variance) : 0.0;
    total += weight;
    variance += weight * weight * neighbour.variance;
    sum = with_weighted(sum, neighbour, weight);
}

// last : the lower right point.
Moments step_at(ivec2 at, ivec2 last) {
    middle = min(stride * at, last);
    Moments here = moments_at(middle);
    if (!(here.nearness > 0.0)) return NO_MOMENTS;
    plane = plane_of(Guide(here.normal, here.nearness), middle, float(reach), REGRESSED);
    luminance = dot(here.rgb, LUMINANCE);
    center_variance = here.variance;
    least = 1e-12 * (1.0 + luminance * luminance);
    total = variance = 0.0;
    sum = NO_MOMENTS;
    tap(0, 0, 4.0, last);
    for (int side = -1; side <= 1; side += 2) {
        tap(side, 0, 2.0, last);
        tap(0, side, 2.0, last);
        tap(side, -1, 1.0, last);
        tap(side, 1, 1.0, last);
    }
    Moments mean = with_weighted(NO_MOMENTS, sum, 1.0 / total);
    mean.variance = with_surface(variance / (total * total), surface_in(center_variance));
    return mean;
}
