// What is not finite, and beyond the range of float32 ray tracing.

const float LARGEST_COORDINATE = 1e18;  // as in viewer/scene/geometry/triangles.py

bool within(vec3 v, float limit) {
    return abs(v.x) <= limit && abs(v.y) <= limit && abs(v.z) <= limit;
}

// The place of a vertex that no ray hits: beyond all that are hit.
vec3 nowhere() {
    return vec3(2.0 * LARGEST_COORDINATE);
}

// The unit vector along v; `other` for one without a finite direction.
vec3 direction_or(vec3 v, vec3 other) {
    float magnitude = max(max(abs(v.x), abs(v.y)), abs(v.z));
    if (!(within(v, 3.4e38) && magnitude > 0.0)) return other;
    v /= magnitude;  // squares neither vanish nor overflow
    return v / sqrt(dot(v, v));
}
