// A circle in the picture, beside which nothing is seen: equidistant, or equisolid (camera_equisolid 1). vec4 camera_film:
// half the picture in radii of the circle; float camera_half: half the angle across it, radians.
#include "cameras/projected.glsl"

bool projected_ray(vec2 at, float eye, out vec3 start, out vec3 direction) {
    vec2 film = vec2(at.x, -at.y) * camera_film.xy;
    float radius = length(film);
    start = vec3(eye, 0.0, 0.0);
    float angle = radius * camera_half, sine = sin(angle), cosine = cos(angle);
    if (camera_equisolid == 1) {  // of the half; asin is rough on some drivers
        float half_sine = min(radius, 1.0) * sin(0.5 * camera_half);
        sine = 2.0 * half_sine * sqrt(max(1.0 - half_sine * half_sine, 0.0));
        cosine = 1.0 - 2.0 * half_sine * half_sine;
    }
    direction = vec3(film * (radius > 0.0 ? sine / radius : 0.0), cosine);
    return radius <= 1.0;
}

// Across the radius a pixel is narrower than along it, and towards the point behind nothing: an eighth is enough.
float projected_spread(vec3 direction) {
    float radius = length(direction.xy), angle = atan(radius, direction.z);
    float narrowing = angle > 1e-3 ? radius / angle : 1.0, angle_per_radius = camera_half;
    if (camera_equisolid == 1) {
        angle_per_radius = 2.0 * sin(0.5 * camera_half);
        narrowing = cos(0.5 * angle);
    }
    return angle_per_radius * camera_film.y * camera_texel.y * clamp(narrowing, 0.125, 1.0);
}

float projected_pixel(vec3 point) {
    return (camera_equisolid == 1 ? 2.0 * sin(0.5 * camera_half) : camera_half) * camera_film.y * camera_texel.y * length(point);
}
