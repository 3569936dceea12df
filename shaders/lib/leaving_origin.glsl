// Origins of rays that leave a surface by its BSDF: behind a sheet of glass on its other side.
#include "interface/bsdf.glsl"
#include "lib/offset_origin.glsl"

vec3 leaving_origin(Interaction at, vec3 direction) {
    vec3 origin = offset_origin(at.position, at.normal, direction, at.error);
#ifdef HAVE_SHEETS
    origin += bsdf_shift(at, direction);
#endif
    return origin;
}
