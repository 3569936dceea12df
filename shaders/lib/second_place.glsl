// Where textures of the second coordinates are looked up at the point whose material is asked for.
#ifdef HAVE_SECOND_UV
#include "lib/tangents_here.glsl"

void find_second_place(Hit hit) {
    find_tangents(hit);
}

vec3 second_place(Geometry at) {
    return tangents_here.uv_1 + vec3(0.0, 0.0, at.uv.z);
}
#else
void find_second_place(Hit hit) {}

vec3 second_place(Geometry at) {
    return at.uv;
}
#endif
