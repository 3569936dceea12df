// Directions around an axis.
#include "lib/disc.glsl"

// Two unit vectors that form a right-handed frame with the unit vector axis. Duff et al., Building an Orthonormal
// Basis, Revisited (JCGT 6, 1, 2017).
void frame_around(vec3 axis, out vec3 right, out vec3 up) {
    float side = axis.z >= 0.0 ? 1.0 : -1.0;
    float a = -1.0 / (side + axis.z), b = axis.x * axis.y * a;
    right = vec3(1.0 + side * axis.x * axis.x * a, side * b, -side * axis.x);
    up = vec3(b, side + axis.y * axis.y * a, -axis.y);
}

// A direction about +z with density cos(angle) / pi: a point of the disc, projected up (Malley's method).
vec3 cosine_direction(vec2 u) {
    vec2 disc_point = concentric_disc(u);
    return vec3(disc_point, sqrt(max(0.0, 1.0 - dot(disc_point, disc_point))));
}
