// A triangle of a deforming object, in the order of its tree, of posed vertices. One with a corner that is not finite,
// or beyond what rays can be traced to, is a point nowhere: it has no area, and the boxes leave it out.
#include "deform/finite.glsl"

uniform int count;  // triangles

// A posed triangle, by its number.
Triangle element(int number) {
    Corners corners = fetch_corners(min(number, count - 1));
    vec3 a = fetch_posed(corners.vertices.x).position;
    vec3 b = fetch_posed(corners.vertices.y).position;
    vec3 c = fetch_posed(corners.vertices.z).position;
    bool is_finite = within(a, LARGEST_COORDINATE) && within(b, LARGEST_COORDINATE) && within(c, LARGEST_COORDINATE);
    if (!is_finite) a = b = c = nowhere();
#ifdef HAVE_CULLED
    return Triangle(a, b, c, corners.number, corners.one_sided);
#else
    return Triangle(a, b, c, corners.number);
#endif
}
