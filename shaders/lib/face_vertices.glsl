// The vertices of a triangle's corners: of a deforming mesh at the time of the ray whose hit it is.
#include "lib/moving_vertex.glsl"

void face_vertices(ivec3 corners, out Vertex a, out Vertex b, out Vertex c) {
    a = vertex_now(fetch_vertices(corners.x));
    b = vertex_now(fetch_vertices(corners.y));
    c = vertex_now(fetch_vertices(corners.z));
}
