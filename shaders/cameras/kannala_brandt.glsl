// A measured fisheye, as OpenCV's cv::fisheye has it (J. Kannala and S. S. Brandt, "A Generic Camera Model and Calibration
// Method for Conventional, Wide-Angle, and Fish-Eye Lenses", 2006), inverted by Newton's method. vec4 camera_powers: the
// coefficients; float camera_limit: the squared angle, radians, beyond which nothing is seen.
#include "cameras/matrix.glsl"

bool projected_ray(vec2 at, float eye, out vec3 start, out vec3 direction) {
    vec2 film = matrix_place(at);
    float radius = length(film), angle = radius, error = 0.0;
    for (int k = 0; k < 17; k++) {
        float angle2 = angle * angle;
        vec4 powers = angle2 * vec4(1.0, angle2, angle2 * angle2, angle2 * angle2 * angle2);
        error = angle * (1.0 + dot(camera_powers, powers)) - radius;
        if (k < 16) angle -= error / (1.0 + dot(camera_powers * vec4(3.0, 5.0, 7.0, 9.0), powers));
    }
    start = vec3(eye, 0.0, 0.0);
    direction = vec3(vec2(film.x, -film.y) * (radius > 0.0 ? sin(angle) / radius : 0.0), cos(angle));
    return abs(error) <= 1e-5 * (1.0 + radius) && angle >= 0.0 && angle * angle <= camera_limit;
}

// Distortion aside; as of an equidistant fisheye.
float projected_spread(vec3 direction) {
    float radius = length(direction.xy), angle = atan(radius, direction.z);
    return camera_film.y * camera_texel.y * clamp(angle > 1e-3 ? radius / angle : 1.0, 0.125, 1.0);
}
