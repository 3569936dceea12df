// The vertices of a triangle's corners: of a deforming mesh at the time of the ray whose hit it is.
#ifdef HAVE_DEFORMING
#include "lib/moving_vertex.glsl"
#endif

void face_vertices(ivec3 corners, out Vertex a, out Vertex b, out Vertex c) {
    a = fetch_vertices(corners.x);
    b = fetch_vertices(corners.y);
    c = fetch_vertices(corners.z);
#ifdef HAVE_DEFORMING
    vertex_at(moment_here, a);
    vertex_at(moment_here, b);
    vertex_at(moment_here, c);
#endif
}
