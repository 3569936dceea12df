// Posed vertices that take the normals of their posed faces, which no other face shares.
#include "deform/finite.glsl"

uniform int count;  // vertices

// A posed vertex with the normal of its face, where it has one of its own.
Vertex element(int number) {
    number = min(number, count - 1);  // lanes beyond may run along for their neighbours
    Vertex vertex = fetch_posed(number);
    ivec3 corners = fetch_facets(number).corners;
    if (corners.x < 0) return vertex;
    vec3 a = fetch_posed(corners.x).position, b = fetch_posed(corners.y).position, c = fetch_posed(corners.z).position;
    vec3 ab = b - a, ac = c - a;
    vec3 extent = max(abs(ab), abs(ac));
    float scale = 1.0 / max(max(max(extent.x, extent.y), extent.z), 1e-30);
    vertex.normal = direction_or(cross(ab * scale, ac * scale), fetch_rest(number).normal);
    return vertex;
}
