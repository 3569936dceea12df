// The unit disc.

// Area-preserving map of the square [0, 1)^2 to the unit disc: concentric squares become concentric circles (Shirley
// and Chiu, A Low Distortion Map Between Disk and Square, 1997). The centre is fixed.
vec2 concentric_disc(vec2 u) {
    vec2 centred = 2.0 * u - 1.0;
    if (centred.x == 0.0 && centred.y == 0.0) return vec2(0.0);
    bool is_wide = abs(centred.x) > abs(centred.y);
    float radius = is_wide ? centred.x : centred.y;
    float angle = is_wide ? 0.78539816 * (centred.y / centred.x) : 1.57079633 - 0.78539816 * (centred.x / centred.y);
    return radius * vec2(cos(angle), sin(angle));
}
