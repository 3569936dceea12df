// Details of the point whose material is asked for, so that all that asks for them finds them once; nothing where no
// material asks.
#ifdef HAVE_DETAIL
#include "interface/detail.glsl"

Detail detail_here;

void find_detail(Hit hit) {
    detail_here = detail_at(hit);
}

vec4 tangent_here() { return detail_here.tangent; }
#else
void find_detail(Hit hit) {}

vec4 tangent_here() { return vec4(0.0); }
#endif
