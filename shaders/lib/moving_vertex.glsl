// A deforming mesh's vertex at the time of the ray whose hit it is: position and normal are linear between those of its
// keys.
#ifdef HAVE_DEFORMING
// Needs the memory vertex_keys and the uniform int vertex_segments, keys less one.
#include "lib/moment.glsl"

// A vertex at the time of the ray whose hit is asked about.
Vertex vertex_now(Vertex vertex) {
    if (vertex.keys < 0) return vertex;
    float fraction;
    int key = vertex.keys + key_before(moment_here, vertex_segments, fraction);
    VertexKey first_key = fetch_vertex_keys(key), next_key = fetch_vertex_keys(key + 1);
    vertex.position = first_key.position + fraction * (next_key.position - first_key.position);
    vertex.normal = first_key.normal + fraction * (next_key.normal - first_key.normal);
    return vertex;
}
#else
Vertex vertex_now(Vertex vertex) { return vertex; }
#endif
