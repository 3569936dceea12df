// Pixel filters by importance sampling: points follow the filter's density, so that all samples have equal weight
// (Ernst, Stamminger and Greiner, Filter Importance Sampling, 2006).

const int FILTER_BOX = 0, FILTER_TENT = 1, FILTER_GAUSSIAN = 2, FILTER_POINT = 3;  // raystream.cameras.lens.FILTERS

// The tent of radius 1 along one axis: the inverse of its cumulative distribution.
float tent(float u) {
    return u < 0.5 ? sqrt(2.0 * u) - 1.0 : 1.0 - sqrt(2.0 - 2.0 * u);
}

// An offset from the pixel's centre, in pixels. Point: none. Box: width 1. Tent: radius 1. Gaussian: standard deviation
// 1/2 along each axis, truncated at radius 1.5, which keeps 1 - exp(-1.5^2 / (2 / 4)) = 0.98889 of it.
vec2 filter_offset(int kind, vec2 u) {
    if (kind == FILTER_TENT) return vec2(tent(u.x), tent(u.y));
    if (kind == FILTER_GAUSSIAN) {
        float radius = sqrt(max(0.0, -0.5 * log(1.0 - 0.988891 * u.x))), angle = 6.2831853 * u.y;
        return radius * vec2(cos(angle), sin(angle));
    }
    return kind == FILTER_POINT ? vec2(0.0) : u - 0.5;
}
