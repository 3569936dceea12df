// A point of a deforming object, taken from its pose to that of the picture before. Needs the stream flow.

void carry(ivec2 at, inout vec3 place, inout vec3 normal) {
    Flow flow = fetch_flow(at);
    float size = length(normal);
    place += flow.shift;
    normal += size * flow.turn;
    normal *= size / max(length(normal), 1e-30);
}
