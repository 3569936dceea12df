// Where textures of the second coordinates are looked up at the point whose material is asked for.
#ifdef HAVE_SECOND_UV
#include "interface/detail.glsl"
#endif

vec3 second_place(Geometry at) {
#ifdef HAVE_SECOND_UV
    return detail_here.uv_1 + vec3(0.0, 0.0, at.uv.z);
#else
    return at.uv;
#endif
}
