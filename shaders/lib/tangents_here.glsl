// Tangents of the point whose material is asked for, so that all that asks for them finds them once; nothing where no
// material asks.
#ifdef HAVE_TANGENTS
#include "interface/tangents.glsl"

VertexTangents tangents_here;

void find_tangents(Hit hit) {
    tangents_here = tangents_at(hit);
}

// The tangent of that point, world space, and its sign; zero without.
vec4 current_tangent() { return tangents_here.tangent; }
#else
void find_tangents(Hit hit) {}

vec4 current_tangent() { return vec4(0.0); }
#endif
