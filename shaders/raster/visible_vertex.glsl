// Vertex program of the visibility buffer.
#include "raster/slot_vertex.glsl"

flat out int slot;

void main() {
    slot = vertex_slot();
    gl_Position = vertex_on_screen(vertex_in_view(slot));
}
