// The share of what a pixel stands out by that its own samples are not sure of: all of it within four standard deviations,
// or where its variance is not known, and less and less beyond.

const float CONFIRMED = 16.0;  // squared standard deviations

float unconfirmed(float excess, float variance) {
    float noise = CONFIRMED * variance, square = excess * excess;
    return variance < 0.0 || square <= noise ? 1.0 : noise / square;
}
