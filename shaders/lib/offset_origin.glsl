// Origins of rays that leave a surface, moved off it, so that they do not hit it again.
// The distance follows the position's error bound, as in Pharr, Jakob and Humphreys (2016, section 3.9.5); where that is
// not known, the size of the coordinates, as in Waechter and Binder (Ray Tracing Gems, 2019, chapter 6), but in plain
// floats without their integer steps, which need bit casts.

// A point on the side of the surface where direction goes. normal: geometric, unit, either side. error: bound of the
// rounding error of each coordinate of position.
vec3 offset_origin(vec3 position, vec3 normal, vec3 direction, float error) {
    // Summed over the axes, an error box reaches that far along the normal.
    float reach = error * (abs(normal.x) + abs(normal.y) + abs(normal.z));
    return position + normal * (dot(normal, direction) < 0.0 ? -reach : reach);
}

// The same for a point of which nothing but its position is known: off by up to 32 units in the last place.
vec3 offset_origin(vec3 position, vec3 normal, vec3 direction) {
    vec3 size = abs(position);
    return offset_origin(position, normal, direction, 3.8146973e-6 * max(max(size.x, size.y), size.z));
}
