// A vertex of a deforming object whose tangent, second texture coordinates and opacity no pose changes.

uniform int count;  // vertices

VertexTangents element(int number) {
    return fetch_tangents(min(number, count - 1));  // lanes beyond may run along for their neighbours
}
