// The tangent of a vertex that moves, at the time of the ray whose hit it is: linear between those of its keys.
#ifdef HAVE_MOVING_TANGENTS
// Needs the memory tangent_keys and the uniform int tangent_segments, keys less one.
#include "lib/moment.glsl"

// A vertex's tangent at the time of the ray whose hit is asked about.
VertexTangents tangent_now(VertexTangents tangents) {
    if (tangents.keys < 0) return tangents;
    float fraction;
    int key = tangents.keys + key_before(moment_here, tangent_segments, fraction);
    vec3 first = fetch_tangent_keys(key).tangent, last = fetch_tangent_keys(key + 1).tangent;
    tangents.tangent.xyz = first + fraction * (last - first);
    return tangents;
}
#else
VertexTangents tangent_now(VertexTangents tangents) { return tangents; }
#endif
