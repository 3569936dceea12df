// Directions around an axis.

// Two unit vectors that make a right-handed frame with the unit vector axis. Duff et al., Building an Orthonormal Basis,
// Revisited (JCGT 6, 1, 2017).
void frame_around(vec3 axis, out vec3 right, out vec3 up) {
    float turn = axis.z >= 0.0 ? 1.0 : -1.0;
    float a = -1.0 / (turn + axis.z), b = axis.x * axis.y * a;
    right = vec3(1.0 + turn * axis.x * axis.x * a, turn * b, -turn * axis.x);
    up = vec3(b, turn + axis.y * axis.y * a, -axis.y);
}

// The square [0, 1)^2 to the unit disk, areas in proportion. Shirley and Chiu, A Low Distortion Map Between Disk and
// Square (1997), in the form of Dave Cline.
vec2 disk_point(vec2 u) {
    vec2 at = 2.0 * u - 1.0;
    bool wide = abs(at.x) > abs(at.y);
    float radius = wide ? at.x : at.y;
    if (radius == 0.0) return vec2(0.0);
    float angle = wide ? 0.78539816 * (at.y / at.x) : 1.57079633 - 0.78539816 * (at.x / at.y);
    return radius * vec2(cos(angle), sin(angle));
}

// A direction about +z with density cos(angle) / pi: the disk, raised (Malley's method).
vec3 cosine_direction(vec2 u) {
    vec2 at = disk_point(u);
    return vec3(at, sqrt(max(0.0, 1.0 - dot(at, at))));
}
