// The light of every normal, by ridge regression of the luminance over the normals around: the more noise is left in the
// light, the less of its change with the normal is believed. Needs the stream moments.
#include "lib/luminance.glsl"

const float LEAST_RIDGE = 1e-3;  // of the normals' variances: they are of unit vectors

Relief element(ivec2 at) {
    Moments here = fetch_moments(at);
    vec3 mean = here.normal;
    float luminance = dot(here.rgb, LUMINANCE);
    if (!(here.nearness > 0.0) || luminance <= 0.0) return Relief(here.rgb, here.variance, vec3(0.0), 1.0);
    float ridge = LEAST_RIDGE + here.variance / (luminance * luminance);
    // The covariance matrix of normals by rows x, y, z, with the ridge, and their covariance with the luminance; the
    // gradient is its inverse, by cofactors, times that. Squares of unit normals sum to 1; of short ones, at edges, zz is too large, which acts as more ridge.
    vec4 squares = here.squares - vec4(mean.x * mean, mean.y * mean.y);
    float yz = here.product - mean.y * mean.z;
    float zz = max(1.0 - here.squares.x - here.squares.w - mean.z * mean.z, 0.0);
    vec3 x = vec3(squares.x + ridge, squares.y, squares.z), y = vec3(squares.y, squares.w + ridge, yz);
    vec3 z = vec3(squares.z, yz, zz + ridge), covariance = here.lit_normal / luminance - mean;
    vec3 yz_minor = cross(y, z), zx_minor = cross(z, x), xy_minor = cross(x, y);
    vec3 gradient = (yz_minor * covariance.x + zx_minor * covariance.y + xy_minor * covariance.z) / max(dot(x, yz_minor), 1e-30);
    return Relief(here.rgb, here.variance, gradient, 1.0 - dot(gradient, mean));
}
