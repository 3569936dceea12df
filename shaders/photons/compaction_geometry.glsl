// Emits only stored photons, in their order, for transform feedback.

layout(points) in;
layout(points, max_vertices = 1) out;
in vec4 entry[];
out vec4 kept;

void main() {
    if (entry[0].z == 0.0) return;
    kept = vec4(entry[0].xy, 0.0, 0.0);
    EmitVertex();
    EndPrimitive();
}
