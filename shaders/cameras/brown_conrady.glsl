// A pinhole by its matrix, with the distortion of a lens (D. C. Brown, "Decentering Distortion of Lenses", 1966, with OpenCV's
// rational radial term), taken out by Newton's method. vec3 camera_radial, camera_below, vec2 camera_tangential: the
// coefficients; float camera_limit: the squared radius beyond which nothing is seen, as places fall there.
#include "cameras/matrix.glsl"

// Where a point at depth 1 is seen, and the derivatives: by x, mixed, by y.
vec2 distorted(vec2 p, out vec3 slope) {
    float q = dot(p, p);
    float above = 1.0 + q * (camera_radial.x + q * (camera_radial.y + q * camera_radial.z));
    float under = 1.0 + q * (camera_below.x + q * (camera_below.y + q * camera_below.z));
    float ratio = above / under;
    vec3 powers = vec3(1.0, 2.0 * q, 3.0 * q * q);
    float growth = (dot(camera_radial, powers) - ratio * dot(camera_below, powers)) / under;
    vec2 t = camera_tangential;
    slope = vec3(
        ratio + 2.0 * p.x * p.x * growth + 2.0 * t.x * p.y + 6.0 * t.y * p.x,
        2.0 * p.x * p.y * growth + 2.0 * t.x * p.x + 2.0 * t.y * p.y,
        ratio + 2.0 * p.y * p.y * growth + 6.0 * t.x * p.y + 2.0 * t.y * p.x
    );
    return p * ratio + vec2(2.0 * t.x * p.x * p.y + t.y * (q + 2.0 * p.x * p.x), t.x * (q + 2.0 * p.y * p.y) + 2.0 * t.y * p.x * p.y);
}

bool projected_ray(vec2 at, float eye, out vec3 start, out vec3 direction) {
    vec2 seen = matrix_place(at), place = seen, off;
    vec3 slope;
    for (int k = 0; k < 16; k++) {
        off = distorted(place, slope) - seen;
        place -= vec2(slope.z * off.x - slope.y * off.y, slope.x * off.y - slope.y * off.x) / (slope.x * slope.z - slope.y * slope.y);
    }
    off = distorted(place, slope) - seen;
    start = vec3(eye, 0.0, 0.0);
    direction = vec3(place.x, -place.y, 1.0);
    bool settled = length(off) <= 1e-5 * (1.0 + length(seen));
    return settled && slope.x * slope.z > slope.y * slope.y && dot(place, place) <= camera_limit;
}

// Distortion aside.
float projected_spread(vec3 direction) {
    return camera_film.y * camera_texel.y * direction.z;
}
