// Weights of a triangle's second and third corner where a line meets its plane. The rasteriser's edges are off by up to
// a part of a pixel: they are held within the triangle. from: the line's origin relative to the first corner.
vec2 weights_on_triangle(vec3 from, vec3 direction, vec3 ab, vec3 ac) {
    vec3 pvec = cross(direction, ac), qvec = cross(from, ab);
    float area = dot(ab, pvec), scale = abs(area) > 1e-37 ? 1.0 / area : 0.0;
    vec2 weights = max(vec2(dot(from, pvec), dot(direction, qvec)) * scale, 0.0);
    return weights / max(weights.x + weights.y, 1.0);
}
