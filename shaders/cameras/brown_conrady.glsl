// A pinhole by its matrix, with the distortion of a lens (D. C. Brown, "Decentering Distortion of Lenses", 1966, with OpenCV's
// rational radial term), taken out by Newton's method. vec3 camera_radial, camera_below, vec2 camera_tangential: the
// coefficients; float camera_limit: the squared radius beyond which nothing is seen, as places fall there.
#include "cameras/matrix.glsl"

// Where the lens shows a point p at depth 1, y down; derivatives: of that, by x, mixed, by y.
vec2 distorted(vec2 p, out vec3 derivatives) {
    float r2 = dot(p, p);
    float numerator = 1.0 + r2 * (camera_radial.x + r2 * (camera_radial.y + r2 * camera_radial.z));
    float denominator = 1.0 + r2 * (camera_below.x + r2 * (camera_below.y + r2 * camera_below.z));
    float ratio = numerator / denominator;
    vec3 powers = vec3(1.0, 2.0 * r2, 3.0 * r2 * r2);
    float growth = (dot(camera_radial, powers) - ratio * dot(camera_below, powers)) / denominator;
    vec2 tangential = camera_tangential;
    derivatives = vec3(
        ratio + 2.0 * p.x * p.x * growth + 2.0 * tangential.x * p.y + 6.0 * tangential.y * p.x,
        2.0 * p.x * p.y * growth + 2.0 * tangential.x * p.x + 2.0 * tangential.y * p.y,
        ratio + 2.0 * p.y * p.y * growth + 6.0 * tangential.x * p.y + 2.0 * tangential.y * p.x
    );
    return p * ratio + vec2(2.0 * tangential.x * p.x * p.y + tangential.y * (r2 + 2.0 * p.x * p.x), tangential.x * (r2 + 2.0 * p.y * p.y) + 2.0 * tangential.y * p.x * p.y);
}

// The ray of a point of the film, camera space; false where nothing is seen there.
bool projected_ray(vec2 at, float eye, out vec3 start, out vec3 direction) {
    vec2 target = matrix_place(at), point = target, error;
    vec3 derivatives;
    for (int k = 0; k < 16; k++) {
        error = distorted(point, derivatives) - target;
        point -= vec2(derivatives.z * error.x - derivatives.y * error.y, derivatives.x * error.y - derivatives.y * error.x) / (derivatives.x * derivatives.z - derivatives.y * derivatives.y);
    }
    error = distorted(point, derivatives) - target;
    start = vec3(eye, 0.0, 0.0);
    direction = vec3(point.x, -point.y, 1.0);
    bool converged = length(error) <= 1e-5 * (1.0 + length(target));
    return converged && derivatives.x * derivatives.z > derivatives.y * derivatives.y && dot(point, point) <= camera_limit;
}

// Distortion aside.
float projected_spread(vec3 direction) {
    return camera_film.y * camera_texel.y * direction.z;
}
