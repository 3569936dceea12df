// A deforming mesh's vertex at a moment: position and normal are linear between those of its keys.
// Needs the memory vertex_keys and the uniform int vertex_segments, keys less one.
#include "lib/moment.glsl"

void vertex_at(int moment, inout Vertex vertex) {
    if (vertex.keys < 0) return;
    float share;
    int key = vertex.keys + key_before(moment, vertex_segments, share);
    VertexKey first = fetch_vertex_keys(key), last = fetch_vertex_keys(key + 1);
    vertex.position = first.position + share * (last.position - first.position);
    vertex.normal = first.normal + share * (last.normal - first.normal);
}
