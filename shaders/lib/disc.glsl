// The unit disc.

// Area-preserving map of the square [0, 1)^2 to the unit disc: concentric squares become concentric circles (Shirley
// and Chiu, A Low Distortion Map Between Disk and Square, 1997). The centre is fixed.
vec2 concentric_disc(vec2 u) {
    vec2 at = 2.0 * u - 1.0;
    if (at.x == 0.0 && at.y == 0.0) return vec2(0.0);
    bool wide = abs(at.x) > abs(at.y);
    float radius = wide ? at.x : at.y;
    float angle = wide ? 0.78539816 * (at.y / at.x) : 1.57079633 - 0.78539816 * (at.x / at.y);
    return radius * vec2(cos(angle), sin(angle));
}
