// Sums and means of `Moments`; of the variance, which is not a mean, they take no care.
const Moments NO_MOMENTS = Moments(vec3(0.0), 0.0, vec3(0.0), 0.0, vec4(0.0), 0.0, vec3(0.0));

Moments with_weighted(Moments sum, Moments other, float weight) {
    sum.rgb += weight * other.rgb;
    sum.normal += weight * other.normal;
    sum.nearness += weight * other.nearness;
    sum.squares += weight * other.squares;
    sum.product += weight * other.product;
    sum.lit_normal += weight * other.lit_normal;
    return sum;
}

Moments mean_of(Moments sum, float total, float variance) {
    Moments mean = with_weighted(NO_MOMENTS, sum, 1.0 / total);
    mean.variance = variance;
    return mean;
}
